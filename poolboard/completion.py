"""What the shell offers behind a command: runs, children, themes, settings. Asked at every tab, so read quickly.

The journal is read directly and read-only, a few rows of it; whatever goes wrong, nothing is offered and nothing said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import typer

#: Offers beyond it are of no use to anybody.
MOST: Final = 200
THEME_NAME: Final = re.compile(r'^name = "([a-z][a-z0-9-]{0,31})"', re.MULTILINE)
Offer = tuple[str, str]


def _quietly(offers: Callable[[typer.Context, str], Iterator[Offer]]) -> Callable[[typer.Context, str], list[Offer]]:
    def complete(ctx: typer.Context, incomplete: str) -> list[Offer]:
        try:
            return [offer for offer in offers(ctx, incomplete) if offer[0].startswith(incomplete)][:MOST]
        except Exception:
            return []

    return complete


def _rows(journal: object, statement: str, values: tuple[object, ...]) -> list[Any]:
    from poolboard.engine.folder import chosen_journal
    from poolboard.journal.file import open_reader

    path = chosen_journal(journal if isinstance(journal, str) else None).pool_path()
    with closing(open_reader(path)) as connection:
        rows: list[Any] = connection.execute(statement, values).fetchall()
        return rows


def _runs(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    statement = "SELECT run_id, name, status FROM runs WHERE run_id >= ? AND run_id < ? ORDER BY number DESC LIMIT ?"
    for run_id, name, status in _rows(
        ctx.params.get("journal"), statement, (incomplete, incomplete + "\U0010ffff", MOST)
    ):
        yield run_id, f"{status} {_plain(name)}"


def _children(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    run = str(ctx.params.get("run") or "")
    statement = (
        "SELECT w.id % 1099511627776, w.state, w.label FROM work w JOIN runs r ON w.run = r.number "
        "WHERE r.run_id >= ? AND r.run_id < ? ORDER BY w.id LIMIT 2000"
    )
    for n, state, label in _rows(ctx.params.get("journal"), statement, (run, run + "\U0010ffff")):
        yield str(n), f"{state} {_plain(label)}"


def _themes(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    # Neither Textual nor pydantic: the names are all that is wanted of the files.
    from importlib import resources

    from poolboard.engine.config_file import user_path

    ours = [entry for entry in resources.files("poolboard.themes").iterdir() if entry.name.endswith(".toml")]
    theirs: list[Any] = sorted((user_path().parent / "themes").glob("*.toml"))[:MOST]
    for entry in (*ours, *theirs):
        if (found := THEME_NAME.search(entry.read_text(encoding="utf-8"))) is not None:
            yield found[1], "yours" if isinstance(entry, Path) and entry in theirs else ""


def _settings(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    from poolboard.engine.config import NAMES, told

    for name in NAMES:
        yield name, told(name).about


def _plain(text: str) -> str:
    """Return text of data for a shell's menu: what could drive a terminal is left out."""
    return "".join(character if character.isprintable() else " " for character in text)[:60]


runs = _quietly(_runs)
children = _quietly(_children)
themes = _quietly(_themes)
settings = _quietly(_settings)
