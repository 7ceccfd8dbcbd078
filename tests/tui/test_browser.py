"""The screen in a real browser. ``make browser``; needs chromium and chromedriver on the path."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Recorded
from .serving import serving

pytestmark = pytest.mark.browser

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1100,700",
)


class Chrome:
    """A headless Chromium, driven over WebDriver (selenium brings trio, whose plugin upsets hypothesis)."""

    def __init__(self, port: int, folder: Path) -> None:
        self._base = f"http://127.0.0.1:{port}/session"
        options = {"binary": shutil.which("chromium"), "args": [*_FLAGS, f"--user-data-dir={folder}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self._base += "/" + self.ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        self.ask("POST", "/url", {"url": url})

    def run(self, script: str) -> Any:
        return self.ask("POST", "/execute/sync", {"script": f"return {script}", "args": []})

    def press(self, key: str) -> None:
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def picture(self) -> str:
        return str(self.ask("GET", "/screenshot"))

    def complaints(self) -> list[str]:
        return [
            line["message"] for line in self.ask("POST", "/se/log", {"type": "browser"}) if line["level"] == "SEVERE"
        ]


@pytest.fixture
def chrome(tmp_path: Path) -> Iterator[Chrome]:
    driver = shutil.which("chromedriver")
    assert driver and shutil.which("chromium"), "install chromium and chromedriver (Debian: chromium chromium-driver)"
    with subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = next(
            int(found[1]) for line in process.stdout if (found := re.search(r"successfully on port (\d+)", line))
        )
        browser = Chrome(port, tmp_path)
        yield browser
        browser.ask("DELETE", "")
        process.terminate()


def wait(holds: Callable[[], object]) -> None:
    """Ask again until it holds; each time the browser is asked, and the test's time limit ends it."""
    while not holds():
        continue


FIRST_BYTE = "document.body.classList.contains('-first-byte')"
CLOSED = "getComputedStyle(document.querySelector('#closed')).display === 'block'"


def test_a_person_opens_the_address_and_keys_go_to_the_screen_without_a_click(
    chrome: Chrome, recorded: Recorded
) -> None:
    with serving(recorded) as server:
        chrome.open(server.url)
        wait(lambda: chrome.run(FIRST_BYTE))
        # The terminal draws on a canvas, so what stands there is a picture; what a screen says is test_serve's matter.
        blank = chrome.picture()
        wait(lambda: chrome.picture() != blank)
        before = chrome.picture()
        chrome.press("?")
        wait(lambda: chrome.picture() != before)
        assert chrome.complaints() == [], "nothing was refused by the page's own policy, and nothing was missing"
        chrome.open(server.outside + "/")
        assert chrome.run("document.body.innerText").strip() == "403"


def test_the_page_says_when_the_screen_has_ended(chrome: Chrome, recorded: Recorded) -> None:
    with serving(recorded) as server:
        chrome.open(server.url)
        wait(lambda: chrome.run(FIRST_BYTE))
        assert not chrome.run(CLOSED)
    wait(lambda: chrome.run(CLOSED))
