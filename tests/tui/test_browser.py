"""The screen in a real browser. ``make browser``; needs chromium and chromedriver on the path."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from .conftest import Recorded
from .serving import serving

pytestmark = pytest.mark.browser

_PATIENCE_S = 60.0
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


@pytest.fixture
def chrome(tmp_path: Path) -> Iterator[Chrome]:
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert program and driver, "install chromium and chromedriver (Debian, Ubuntu: chromium chromium-driver)"
    options = ChromeOptions()
    options.binary_location = program
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options=options, service=Service(driver))
    yield browser
    browser.quit()


def picture(chrome: Chrome) -> bytes:
    return chrome.get_screenshot_as_png()


def test_a_person_opens_the_address_and_walks_from_the_runs_to_a_board_by_keys_alone(
    chrome: Chrome, recorded: Recorded
) -> None:
    waiting = WebDriverWait(chrome, _PATIENCE_S)
    with serving(recorded) as server:
        chrome.get(server.url)
        body = chrome.find_element(By.TAG_NAME, "body")
        waiting.until(lambda browser: "-first-byte" in (body.get_attribute("class") or ""))
        # The terminal draws on a canvas, so what stands there is a picture; what a screen says is test_serve's matter.
        blank = picture(chrome)
        waiting.until(lambda browser: picture(chrome) != blank)
        before = picture(chrome)
        ActionChains(chrome).send_keys("?").perform()
        waiting.until(lambda browser: picture(chrome) != before)
        wrong = [line for line in chrome.get_log("browser") if line["level"] == "SEVERE"]  # type: ignore[no-untyped-call]
        assert wrong == [], "nothing was refused by the page's own policy, and nothing was missing"
        ActionChains(chrome).send_keys("q").perform()
        chrome.get(server.outside + "/")
        assert chrome.find_element(By.TAG_NAME, "body").text == "403"


def test_the_page_says_when_the_screen_has_ended(chrome: Chrome, recorded: Recorded) -> None:
    waiting = WebDriverWait(chrome, _PATIENCE_S)
    with serving(recorded) as server:
        chrome.get(server.url)
        body = chrome.find_element(By.TAG_NAME, "body")
        waiting.until(lambda browser: "-first-byte" in (body.get_attribute("class") or ""))
    waiting.until(lambda browser: chrome.find_element(By.ID, "closed").is_displayed())
    assert "its runs have not" in chrome.find_element(By.ID, "closed").text
