"""Hooks as the command line is given them: what goes before the settings' own."""

from __future__ import annotations

from poolboard.inputs import as_text


def named_hooks(on_complete: str | None, on_failure: str | None, on_blocked: str | None) -> dict[str, str]:
    """Return the hooks that were given by name; an empty one takes away what the settings say. Raises UserMistake."""
    given = {"on_complete": on_complete, "on_failure": on_failure, "on_blocked": on_blocked}
    return {
        name: as_text(command, f"--{name.replace('_', '-')}") for name, command in given.items() if command is not None
    }
