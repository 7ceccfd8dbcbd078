"""An example or two for every command, shown by its ``--help`` and in the manual."""

from __future__ import annotations

from typing import Final

#: By the command's words; commands whose own text has an example need none here.
EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "watch": ("poolboard watch", "poolboard watch 3f2a --read-only", "poolboard watch 3f2a --json | jq .children"),
    "status": ("poolboard status", "poolboard status 3f2a --json"),
    "list": ("poolboard list", "poolboard list --json | jq -r '.[].run_id'"),
    "pause": ("poolboard pause 3f2a --why 'the disk is nearly full'",),
    "resume": ("poolboard resume 3f2a", "poolboard resume 3f2a --detach --accept-code"),
    "stop": ("poolboard stop 3f2a", "poolboard stop 3f2a --now --why lunch"),
    "cancel": ("poolboard cancel 3f2a --why 'the wrong list'",),
    "retry": ("poolboard retry 3f2a --failed",),
    "workers": ("poolboard workers 3f2a 8",),
    "slots": ("poolboard slots 3f2a 8",),
    "concurrency": ("poolboard concurrency 3f2a 100",),
    "prompts": ("poolboard prompts", "poolboard prompts 3f2a --json"),
    "messages": ("poolboard messages 3f2a", "poolboard messages 3f2a --json"),
    "doctor": ("poolboard doctor", "poolboard doctor --fix"),
    "journal check": ("poolboard journal check",),
    "journal vacuum": ("poolboard journal vacuum",),
    "journal import": (
        "poolboard journal import run.jsonl",
        "ssh host poolboard journal export 3f2a | poolboard journal import -",
    ),
}


def epilog(words: str) -> str | None:
    """Return what stands below a command's options; None for a command without examples here."""
    found = EXAMPLES.get(words)
    return None if found is None else "\b\nExamples:\n" + "\n".join(f"  {line}" for line in found)
