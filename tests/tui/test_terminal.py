"""The terminal is given back, whatever ends the dashboard; and data never drives it. In a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path

import psutil
import pytest

from .conftest import NAMES, ROOT, Recorded

SHOW = "import sys; from poolboard.tui.app import run_dashboard; sys.exit(run_dashboard(sys.argv[1], sys.argv[2]))"
BREAK = """
import sys, threading
from poolboard.tui import app

class Broken(app.PoolboardApp):
    def on_ready(self):
        self.set_timer(0.5, self.fail)

    def fail(self):
        WAY

    def boom(self):
        raise RuntimeError("a fault of ours")

app.PoolboardApp = Broken
sys.exit(app.run_dashboard(sys.argv[1], sys.argv[2]))
"""
RESTORED = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?2004l", b"\x1b[?25h")
_PATIENCE_S = 60.0


class Terminal:
    """A program in a pseudo-terminal of 100x40, and every byte that it wrote."""

    def __init__(self, program: str | Path, *words: str) -> None:
        self.master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        self.written = b""
        self.process = subprocess.Popen(
            [sys.executable, *(("-c", program) if isinstance(program, str) else (str(program),)), *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )

    def read(self) -> bool:
        """Take what was written; say whether there was something within a moment."""
        ready, _, _ = select.select([self.master], [], [], 0.1)
        if ready:
            self.written += os.read(self.master, 65536)
        return bool(ready)

    def wait_for(self, text: bytes) -> None:
        """Read on until the text was written."""
        deadline = time.monotonic() + _PATIENCE_S
        while text not in self.written:
            self.read()
            assert time.monotonic() < deadline, self.written[-2000:]

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        """Read on until the program has ended; return its exit code."""
        deadline = time.monotonic() + _PATIENCE_S
        while self.process.poll() is None:
            self.read()
            assert time.monotonic() < deadline, self.written[-2000:]
        while self.read():
            pass
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def board(recorded: Recorded) -> Iterator[Terminal]:
    terminal = Terminal(SHOW, str(recorded.journal), recorded.run_id)
    terminal.wait_for(b"in all")
    yield terminal
    terminal.close()


def given_back(terminal: Terminal) -> None:
    """Check that the last sequences of each kind restore, and that the line discipline is as before."""
    for sequence in RESTORED:
        kind, ending = sequence[:-1], sequence[-1:]
        assert terminal.written.rfind(sequence) > terminal.written.rfind(kind + (b"l" if ending == b"h" else b"h"))
    assert termios.tcgetattr(terminal.slave) == terminal.before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)])
def test_a_signal_ends_the_screen_and_gives_the_terminal_back(board: Terminal, number: int, code: int) -> None:
    """B49, by signal."""
    board.process.send_signal(number)
    assert board.end() == code
    given_back(board)


def test_ctrl_q_leaves_at_once_with_zero(board: Terminal) -> None:
    board.type(b"\x11")
    assert board.end() == 0
    given_back(board)


@pytest.mark.parametrize("told", [True, False])
def test_a_terminal_that_is_closed_ends_the_screen(recorded: Recorded, told: bool) -> None:
    """Also where no signal tells of it: as it is not the controlling terminal of the screen."""
    terminal = Terminal(SHOW, str(recorded.journal), recorded.run_id)
    terminal.wait_for(b"in all")
    os.close(terminal.slave)
    os.close(terminal.master)
    if told:
        terminal.process.send_signal(signal.SIGHUP)
    assert terminal.process.wait(_PATIENCE_S) in (129, -signal.SIGHUP)


def test_sigtstp_gives_the_terminal_to_the_shell_and_fg_brings_the_board_back(board: Terminal) -> None:
    """B49, by SIGTSTP and SIGCONT, which is what ^Z and fg are."""
    board.process.send_signal(signal.SIGTSTP)
    _until(board, lambda: psutil.Process(board.process.pid).status() == psutil.STATUS_STOPPED)
    given_back(board)
    left_off = len(board.written)
    board.process.send_signal(signal.SIGCONT)
    _until(board, lambda: b"\x1b[?1049h" in board.written[left_off:] and b"completed" in board.written[left_off:])
    board.type(b"\x11")
    assert board.end() == 0
    given_back(board)


def _until(terminal: Terminal, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds() or terminal.read():
        terminal.read()
        assert time.monotonic() < deadline, terminal.written[-2000:]


def test_a_fault_in_a_thread_of_its_own_leaves_the_screen_whole_and_the_terminal_too(
    recorded: Recorded, tmp_path: Path
) -> None:
    """B49, by a fault in a thread that nobody waits for: nothing of it is written over the board."""
    program = tmp_path / "broken.py"
    program.write_text(BREAK.replace("WAY", "threading.Thread(target=self.boom).start()"))
    terminal = Terminal(program, str(recorded.journal), recorded.run_id)
    try:
        terminal.wait_for(b"in all")
        for _ in range(10):
            terminal.read()
        terminal.type(b"\x11")
        assert terminal.end() == 0
        given_back(terminal)
        assert b"a fault of ours" not in terminal.written
    finally:
        terminal.close()


@pytest.mark.parametrize(
    "way", ["self.boom()", pytest.param("self.run_worker(self.boom, thread=True)", marks=pytest.mark.slow)]
)
def test_a_fault_of_ours_ends_with_one_and_its_traceback_on_a_clean_terminal(
    recorded: Recorded, tmp_path: Path, way: str
) -> None:
    """B49, by a fault: in the loop, and in a thread that the loop waits for."""
    program = tmp_path / "broken.py"
    program.write_text(BREAK.replace("WAY", way))
    terminal = Terminal(program, str(recorded.journal), recorded.run_id)
    try:
        assert terminal.end() == 1
        given_back(terminal)
        assert terminal.written.rfind(b"a fault of ours") > terminal.written.find(b"\x1b[?1049l")
    finally:
        terminal.close()


def test_no_byte_of_data_drives_the_terminal(board: Terminal) -> None:
    """B64: every byte that the dashboard writes."""
    _until(board, lambda: b"^[]52;c;UFdO^G" in board.written)  # the list of children is drawn
    for keys in (b"\r", b"l", b"\x1b", b"/[\r", b"\x1b", b"?", b"\x1b"):
        board.type(keys)
        for _ in range(5):
            board.read()
    board.type(b"\x11")
    assert board.end() == 0
    told = board.written
    for name in NAMES:
        raw = name.encode()
        if b"\x1b" in raw or "\x9b" in name:
            assert raw not in told, name
    for sequence in (b"\x1b]52", b"\x1b]0;PWN", b"\x1b]8;;", b"\x1bP", b"\x1bc", b"\xc2\x9b", "\u202e".encode()):
        assert sequence not in told
    assert b"^[]52;c;UFdO^G" in told


def test_tmux_shows_the_board_and_gets_its_screen_back(recorded: Recorded, tmp_path: Path) -> None:
    socket = ["tmux", "-f", "/dev/null", "-S", str(tmp_path / "t")]
    try:
        subprocess.run([*socket, "-V"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("tmux is not installed")
    program = tmp_path / "show.py"
    program.write_text(SHOW)
    command = f"{sys.executable} {program} {recorded.journal} {recorded.run_id}; echo ended $?; exec sleep 60"
    subprocess.run([*socket, "new-session", "-d", "-x", "80", "-y", "24", command], check=True)
    try:
        _tmux_shows(socket, "✓ completed")
        subprocess.run([*socket, "send-keys", "C-q"], check=True)
        _tmux_shows(socket, "ended 0")
    finally:
        subprocess.run([*socket, "kill-server"], check=False)


def _tmux_shows(socket: list[str], text: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        pane = subprocess.run([*socket, "capture-pane", "-p"], check=True, capture_output=True, text=True).stdout
        if text in pane:
            return
        assert time.monotonic() < deadline, pane
        select.select([], [], [], 0.1)
