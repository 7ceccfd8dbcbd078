"""Which journal: the command line's word, else the environment's, a settings file's, the default; and who said so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from .errors import JournalUnusable, StorageUnavailable
from .protocol import Journal

VARIABLE: Final = "POOLBOARD_JOURNAL"
DEFAULT: Final = "the default"
#: A Python file or a dotted module, and the name of its factory.
ADAPTER: Final = re.compile(r"(?:.+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):[A-Za-z_]\w*")
URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True, slots=True)
class Configured:
    """A settings file's word: ``source`` is its ``file:line``, ``folder`` what a relative path is relative to."""

    word: str
    source: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Selection:
    """A chosen journal. ``where`` is a path, a name in memory, or an adapter; ``source`` is for messages.

    ``address`` is the whole word where an installed adapter gets one: it may hold a password, and is never shown.
    """

    kind: Literal["sqlite", "memory", "custom"]
    where: str
    source: str
    address: str = field(default="", repr=False)

    def pool_path(self) -> Path:
        """Return the file of a journal that a pool can run on; raises JournalUnusable for every other kind."""
        if self.kind == "sqlite":
            return Path(self.where).expanduser().absolute()
        what = f"the memory journal {self.where!r}" if self.kind == "memory" else f"the journal adapter {self.where}"
        raise JournalUnusable(
            f"{what} hosts no pool, whose processes share a file: give a path{_chosen_by(self.source)}"
        )

    @contextmanager
    def named(self) -> Iterator[None]:
        """Add to errors of opening or using the journal who chose it."""
        source = _chosen_by(self.source)
        try:
            yield
            return
        except JournalUnusable as error:
            failure: JournalUnusable | StorageUnavailable = JournalUnusable(f"{error}{source}")
        except StorageUnavailable as error:
            failure = StorageUnavailable(error.adapter, error.where, f"{error.reason}{source}")
        # Outside of the handler: nothing that an adapter kept back hangs on to it.
        raise failure


def choose(
    flag: str | None,
    environ: Mapping[str, str],
    default: Path,
    configured: Callable[[], Configured | None] | None = None,
) -> Selection:
    """Return the journal in force; an empty word counts as none. Raises JournalUnusable for a word without meaning.

    ``configured`` gives a settings file's word; it is asked only where flag and environment say nothing.
    """
    for word, source in ((flag, "--journal"), (environ.get(VARIABLE), VARIABLE)):
        if word:
            return _parsed(word, source)
    found = None if configured is None else configured()
    if found is not None and found.word:
        return _anchored(_parsed(found.word, found.source), found.folder)
    return Selection("sqlite", str(default), DEFAULT)


def _anchored(selection: Selection, folder: Path) -> Selection:
    """Return the selection with a path that is relative to a settings file, not to where a person stands."""
    if selection.kind == "sqlite":
        return replace(selection, where=str(folder / Path(selection.where).expanduser()))
    file, _, factory = selection.where.rpartition(":")
    if selection.kind == "custom" and file.endswith(".py"):
        return replace(selection, where=f"{folder / Path(file).expanduser()}:{factory}")
    return selection


def _parsed(word: str, source: str) -> Selection:
    if word == "memory" or word.startswith("memory:"):
        return Selection("memory", word.removeprefix("memory").removeprefix(":"), source)
    if (url := URL.match(word)) is not None:
        from .installed import is_installed  # late: it reads what is installed

        if is_installed(url[1]):
            return Selection("custom", f"{url[1]}://", source, word)
        # Only the scheme: the rest may hold a password.
        raise JournalUnusable(
            f"there is no journal adapter for {url[1]}://: install one, or give a path, memory, or module:factory"
            f"{_chosen_by(source)}"
        )
    if word.startswith("sqlite:"):
        word = word.removeprefix("sqlite:")
        if not word:
            raise JournalUnusable(f"sqlite: needs a path behind it{_chosen_by(source)}")
    elif ADAPTER.fullmatch(word):
        return Selection("custom", word, source)
    return Selection("sqlite", word, source)


async def open_journal(selection: Selection) -> Journal:
    """Open the chosen journal, making a file or a name that is missing; every error says who chose it.

    Raises JournalUnusable, StorageUnavailable.
    """
    with selection.named():
        return await _open(selection)


async def _open(selection: Selection) -> Journal:
    # Imported late: a reader needs none of the three.
    if selection.kind == "sqlite":
        from .sqlite import SqliteJournal

        return await SqliteJournal.open(selection.pool_path())
    if selection.kind == "memory":
        from .memory import MemoryJournal

        return await MemoryJournal.open_named(selection.where)
    if selection.address:
        from .installed import open_installed

        return await open_installed(selection.where, selection.address)
    from .adapter import open_adapter

    return await open_adapter(selection.where)


def _chosen_by(source: str) -> str:
    if source == DEFAULT:
        return f" ({source})"
    return f" (from {source})" if ":" in source else f" (chosen by {source})"
