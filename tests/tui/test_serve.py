"""``poolboard serve``: who gets in, what they see, and what they cannot do. Without a browser."""

from __future__ import annotations

import asyncio
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator

import aiohttp
import psutil
import pytest

from poolboard import exit_codes, serving
from poolboard.browser_door import Door

from .conftest import ROOT, Recorded
from .serving import Served
from .serving import serving as served

_PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def server(recorded: Recorded) -> Iterator[Served]:
    with served(recorded, recorded.run_id) as one:
        yield one


async def painted(screen: aiohttp.ClientWebSocketResponse, text: bytes) -> bytes:
    """Read what the screen paints until the text was in it."""
    seen = b""
    async with asyncio.timeout(_PATIENCE_S):
        while text not in seen:
            message = await screen.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), (message, seen[-500:])
            seen += message.data if isinstance(message.data, bytes) else b""
    return seen


async def test_without_the_token_every_path_is_refused_alike_and_nothing_is_told(server: Served) -> None:
    wrong = server.token[:-1] + ("a" if server.token[-1] != "a" else "b")
    answers = set()
    async with aiohttp.ClientSession() as browser:
        for path in ("", "/", "/ws", "/static/js/textual.js", f"/{wrong}/", f"/{wrong}/ws", "/ü/", "/%ff/", "//", "/x"):
            async with browser.get(server.outside + path) as answer:
                answers.add((answer.status, await answer.text(), answer.headers.get("Location")))
        async with browser.post(server.outside + "/", data=b"x") as answer:
            answers.add((answer.status, await answer.text(), answer.headers.get("Location")))
    assert answers == {(403, "403\n", None)}


async def test_the_page_asks_nobody_else_and_gives_its_address_to_nobody(server: Served) -> None:
    async with aiohttp.ClientSession() as browser:
        async with browser.get(server.url) as answer:
            page = await answer.text()
            headers = answer.headers
        assert page.count("//") == page.count(f"ws://{server.outside.removeprefix('http://')}/{server.token}/ws") == 1
        assert (
            headers["Referrer-Policy"] == "no-referrer" and "default-src 'self'" in headers["Content-Security-Policy"]
        )
        for path, status in (("browser.js", 200), ("static/js/textual.js", 200), ("static/%2e%2e/server.py", 404)):
            async with browser.get(server.url + path) as answer:
                assert answer.status == status, path


def test_it_listens_on_this_machine_alone(server: Served) -> None:
    listening = [one.laddr for one in psutil.Process(server.process.pid).net_connections() if one.status == "LISTEN"]
    assert [address.ip for address in listening] == ["127.0.0.1"]


async def test_a_browser_gets_the_first_screen_and_no_process_is_told_the_token(server: Served) -> None:
    async with aiohttp.ClientSession() as browser, browser.ws_connect(server.url + "ws?width=100&height=40") as screen:
        await painted(screen, b"in all")
        (drawing,) = psutil.Process(server.process.pid).children()
        assert server.token not in " ".join([*drawing.cmdline(), *drawing.environ().values()])
        assert server.token not in " ".join(psutil.Process(server.process.pid).cmdline())


async def test_whoever_looks_from_a_browser_can_only_look(server: Served) -> None:
    async with aiohttp.ClientSession() as browser, browser.ws_connect(server.url + "ws?width=100&height=40") as screen:
        await painted(screen, b"in all")
        await screen.send_json(["stdin", "x"])
        await painted(screen, b"stop: read-only")


async def test_whoever_was_let_in_to_act_is_told_why_not_now_instead(recorded: Recorded) -> None:
    with served(recorded, recorded.run_id, "--write") as server:
        async with aiohttp.ClientSession() as browser, browser.ws_connect(server.url + "ws?width=100") as screen:
            await painted(screen, b"completed")  # before the run was read, a key could not tell what becomes of it
            await screen.send_json(["stdin", "x"])
            await painted(screen, b"stop: the run is completed")


async def test_nonsense_from_a_browser_is_dropped_and_the_screen_goes_on(server: Served) -> None:
    address = server.url + "ws?width=no&height=x"
    async with aiohttp.ClientSession() as browser, browser.ws_connect(address) as screen:
        await painted(screen, b"in all")
        for text in ("", "{", "[]", "7", '["resize", 1]', '["resize", {"width": "x"}]', '["stdin"]', "[" * 9999):
            await screen.send_str(text)
        await screen.send_json(["resize", {"width": 100, "height": 40}])
        await painted(screen, b"in all")


async def test_a_page_of_somebody_elses_gets_no_screen(server: Served) -> None:
    async with aiohttp.ClientSession() as browser:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await browser.ws_connect(server.url + "ws", origin="http://elsewhere.example")
    assert refused.value.status == 403


async def test_one_screen_too_many_is_refused_and_there_is_room_again_when_one_leaves(recorded: Recorded) -> None:
    door = Door(secrets.token_urlsafe(8), str(recorded.journal), None, write=False, most_screens=1)
    address = serving.address("127.0.0.1", await door.open("127.0.0.1", 0), door.token) + "ws"
    try:
        async with aiohttp.ClientSession() as browser:
            async with browser.ws_connect(address) as first:
                await painted(first, b"in all")
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await browser.ws_connect(address)
                assert refused.value.status == 503
            async with asyncio.timeout(_PATIENCE_S):
                while True:
                    try:
                        second = await browser.ws_connect(address)
                        break
                    except aiohttp.WSServerHandshakeError:
                        await asyncio.sleep(0.05)
            await painted(second, b"in all")
            await second.close()
    finally:
        await door.close()


async def test_the_screens_of_a_killed_server_leave_by_themselves(recorded: Recorded) -> None:
    with served(recorded) as server:
        async with aiohttp.ClientSession() as browser, browser.ws_connect(server.url + "ws") as screen:
            await painted(screen, b"in all")
            drawing = psutil.Process(server.process.pid).children()
            assert len(drawing) == 1
            server.process.kill()
            _, alive = await asyncio.to_thread(psutil.wait_procs, drawing, _PATIENCE_S)
            assert alive == []


def test_a_server_that_is_ended_says_its_address_once_and_nothing_else(recorded: Recorded) -> None:
    with served(recorded) as server:
        server.process.terminate()
        assert server.process.communicate(timeout=60) == ("", "")
    assert server.process.returncode == exit_codes.TERMINATED


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nosuchrun"], "nosuchrun"),
        (["--host", ""], "--host: name an address"),
        (["--port", "{taken}"], "in use"),
        (["--host", "203.0.113.7"], "--host 203.0.113.7 --port 0: "),
    ],
)
def test_what_cannot_be_served_is_one_clear_line(recorded: Recorded, words: list[str], told: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        given = [word.format(taken=port) for word in words]
        command = [sys.executable, "-m", "poolboard", "serve", "--journal", str(recorded.journal), *given]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout) == (exit_codes.MISTAKE, "")
    assert done.stderr.count("\n") == 1 and told in done.stderr


def test_without_the_extra_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['textual_serve'] = None\n"
        "from poolboard.__main__ import main; sys.exit(main(['serve']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout) == (exit_codes.MISTAKE, "")
    assert done.stderr == f"poolboard: {serving.MISSING}\n"


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.example")),
    ],
)
def test_any_address_that_others_can_reach_is_warned_about(host: str, own: bool) -> None:
    assert serving.is_own(host) is own
    assert host in serving.warning(host, write=False)


def test_the_warning_says_what_a_stranger_could_do() -> None:
    assert serving.warning("0.0.0.0", write=True).endswith("can see the runs and act on them")
    assert serving.address("::1", 80, "t") == "http://[::1]:80/t/"
