"""Handing the terminal to another program for a while: a pager, an editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence

from textual.app import App, SuspendNotSupported


def run_outside(app: App[int], variable: str, otherwise: str, paths: Sequence[str]) -> str | None:
    """Run the person's program (``$PAGER``, ``$EDITOR``) on files, the dashboard suspended; return what went wrong.

    The program gets files, never their content on a command line; what escape sequences do in it is its own affair
    (``less`` shows them).
    """
    command = os.environ.get(variable) or otherwise
    try:
        words = shlex.split(command)
        if not words:
            return f"${variable} is empty"
        with app.suspend():
            code = subprocess.run([*words, "--", *paths] if words[0] == otherwise else [*words, *paths]).returncode
    except SuspendNotSupported:
        return "this terminal cannot be handed to another program"
    except ValueError as error:
        return f"${variable} is not a command line ({error}): {command}"
    except OSError as error:
        return f"${variable} could not be started: {error}"
    return f"{words[0]} ended with {code}" if code else None
