"""``poolboard serve``: who may listen where, the address that is told once, and the end. Knows no HTTP."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import signal
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Final

from poolboard import exit_codes, shapes
from poolboard.console import complain, say
from poolboard.engine.errors import UserMistake
from poolboard.session import opened

if TYPE_CHECKING:
    from poolboard.browser_door import Door

MISSING: Final = "the screen in a browser needs textual-serve: pip install 'poolboard[web]'"


def serve(journal: str | None, prefix: str | None, *, host: str, port: int, write: bool, as_json: bool) -> int:
    """Serve screens until a signal ends this; raises UserMistake before anything is listened on."""
    if not host.strip():
        raise UserMistake("--host: name an address; 0.0.0.0 is every one that this machine has")
    try:
        from poolboard.browser_door import Door
    except ImportError:
        raise UserMistake(MISSING) from None
    run_id = asyncio.run(_resolved(journal, prefix))
    door = Door(secrets.token_urlsafe(32), journal, run_id, write=write)
    return asyncio.run(_serve(door, host, port, as_json))


async def _resolved(journal: str | None, prefix: str | None) -> str | None:
    """Return the run's whole id; a journal or a run that is not there is told now, not in the browser."""
    async with opened(journal) as monitor:
        return None if prefix is None else await monitor.resolve(prefix)


async def _serve(door: Door, host: str, port: int, as_json: bool) -> int:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    try:
        bound = await door.open(host, port)
    except OSError as error:
        raise UserMistake(f"--host {host} --port {port}: {error.strerror or error}") from None
    try:
        if not is_own(host):
            complain(warning(host, write=door.write))
        url = address(host, bound, door.token)
        say(shapes.line({"shape": shapes.VERSION, "url": url}) if as_json else url)
        # From here on stdout carries nothing: what textual-serve tells of a screen that failed is no answer of ours.
        with redirect_stdout(sys.stderr):
            await ended.wait()
    finally:
        await door.close()
    return exit_codes.TERMINATED


def is_own(host: str) -> bool:
    """Say whether only this machine can reach an address. A name may mean anything, but for ``localhost``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address(host: str, port: int, token: str) -> str:
    """Return what to open in the browser."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/{token}/"


def warning(host: str, *, write: bool) -> str:
    """Return what a person should know who lets others in."""
    may = "see the runs and act on them" if write else "see the runs"
    return f"warning: {host} can be reached from other machines, unencrypted: whoever learns the address can {may}"
