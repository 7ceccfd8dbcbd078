"""The ``poolboard`` command: what becomes of an error, and nothing else."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Final

from poolboard import __version__, exit_codes
from poolboard.console import complain, complain_of, make_safe, say

_FULL_OR_FORBIDDEN: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO})

#: Set by a shell that asks what could come next.
COMPLETING: Final = "_POOLBOARD_COMPLETE"


def main(words: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if words is None else words
    if sys.platform == "win32":
        complain("poolboard: Windows is not supported; run it in WSL (Windows Subsystem for Linux)")
        return exit_codes.MISTAKE
    make_safe()
    end = _end_of_own_words(given)
    debug = "--debug" in given[:end]
    try:
        code = _dispatch([word for i, word in enumerate(given) if i >= end or word != "--debug"])
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return exit_codes.BROKEN_PIPE
    except Exception as error:
        if debug:
            traceback.print_exc()
        text, code = _policy(error)
        complain_of(text)
        return code


def _end_of_own_words(words: list[str]) -> int:
    """Return where words begin that are somebody else's: a command for ``each``, and what comes after ``--``."""
    if "each" in words[:2]:
        return words.index("each") + 2
    return words.index("--") if "--" in words else len(words)


def _dispatch(words: list[str]) -> int:
    # Scripts ask for the version often and want it at once, so not even typer is loaded.
    if words == ["--version"]:
        say(f"poolboard {__version__}")
        return exit_codes.COMPLETED
    from poolboard.cli import command_line

    # A shell that completes asks with the line in its environment, and may want any word.
    app = command_line(None if COMPLETING in os.environ else words)
    deed = app(words, prog_name="poolboard", standalone_mode=False)
    # After --help there is nothing to do but to end with the status that it gave.
    return deed() if callable(deed) else int(deed or 0)


def _policy(error: Exception) -> tuple[str, int]:
    """Return the one line and the exit status of an error."""
    from poolboard.engine.errors import CoordinatorGone, EngineError
    from poolboard.journal.errors import JournalError, JournalUnusable, RunNotFound
    from poolboard.tui.text import visible

    text = visible(str(error)) or type(error).__name__
    # Newer typer carries its own copy of click, older ones use the library: their errors share methods, not a class.
    if hasattr(error, "format_message"):
        return visible(error.format_message()), exit_codes.MISTAKE
    if isinstance(error, CoordinatorGone):
        return text, exit_codes.RESUMABLE
    if isinstance(error, (EngineError, JournalUnusable, RunNotFound)):
        return text, exit_codes.MISTAKE
    if isinstance(error, JournalError):
        return text, exit_codes.STORAGE
    if isinstance(error, OSError) and error.errno in _FULL_OR_FORBIDDEN:
        return text, exit_codes.STORAGE
    fault = f"a fault of Poolboard itself: {type(error).__name__}: {text}; --debug shows where"
    return fault, exit_codes.FAULT


def _drop_stdout() -> None:
    """Point stdout nowhere, so that the interpreter's last flush does not complain about the pipe again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
