"""One log file on screen: opens at its end whatever its size, follows, pages back, searches and filters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from .filter_bar import FilterBar
from .line import Line, Piece, Sides
from .log_chain import Link, LogChain
from .log_lines import ERRORS, LogLine, cut, hits, needle, shown
from .log_pane import LogPane
from .log_reader import Block, LogReader
from .source import Source
from .text import visible
from .text_pane import MAX_LINES, PaneLine
from .units import clock_time, count, several

#: Lines that come in at an edge of the window.
_PAGE: Final = 1000
#: Blocks that are read to fill a window.
_TRIES: Final = 4
_FOLLOW_S: Final = 0.3


class LogView(Vertical):
    """A window of lines into a file. ``only`` shows the lines that hold the search text, and no others."""

    @dataclass
    class Changed(Message):
        """What is to be said about the log changed."""

    @dataclass
    class Said(Message):
        """A notice for the person."""

        text: str

    def __init__(self, source: Source, wall_ms: Callable[[], int], *, id: str) -> None:
        super().__init__(id=id)
        self._source: Final = source
        self._wall_ms: Final = wall_ms
        self.pane: Final = LogPane(id="log-pane")
        self.text = ""
        self.only = False
        self.links: tuple[Link, ...] = ()
        self.stamped = False
        self._chain: LogChain | None = None
        self._reader: LogReader | None = None
        self._seen: dict[int, int] = {}  # when lines came that were not there at first, by their start
        self._lines: list[LogLine] = []
        self._tail_end = 0
        self._at_tail = True
        self._rest = b""
        self._here: LogLine | None = None
        self._matches = 0
        self._scanning = False

    def compose(self) -> ComposeResult:
        yield self.pane
        yield Line(self._unfinished, id="log-rest")
        yield FilterBar({}, id="log-search")

    # -- which file

    def open(self, links: Sequence[Link]) -> None:
        """Show other files, one after the other, at their end; what was searched for stays."""
        self.links = tuple(links)
        self._rest, self._seen = b"", {}
        self._start(self._open(), "log-follow")

    async def _open(self) -> None:
        self._chain = await LogChain.open(self._source, self.links)
        self._reader = LogReader(self._chain.read)
        self._tail_end = self._chain.size_bytes
        await self._follow(self._reader)

    def close(self) -> None:
        """Stop reading."""
        self._reader = None
        self.workers.cancel_node(self)

    def _start(self, work: Coroutine[None, None, None], group: str) -> None:
        self.run_worker(work, group=group, exclusive=True, exit_on_error=False)

    async def _follow(self, reader: LogReader) -> None:
        self._tail_end = await reader.line_start(self._tail_end)
        await self._show_end(reader)
        while True:
            if self._scanning:
                await asyncio.sleep(_FOLLOW_S)
                continue
            block = await reader.after(self._tail_end)
            # A scan that began while this was read lists everything up to the end as it was then.
            if self._scanning:
                continue
            self._tail_end = block.end
            if block.data:
                self._take(list(cut(block.data, block.start)))
            if block.rest != self._rest:
                self._rest = block.rest
                self._tell_rest()
            if not block.data:
                await asyncio.sleep(_FOLLOW_S)
            await asyncio.sleep(0)

    async def _show_end(self, reader: LogReader) -> None:
        """Fill the window anew: with the end of the file, or with the end of what matches."""
        self._here = None
        if self.only and self.text:
            await self._scan(reader)
            return
        lines: list[LogLine] = []
        start = self._tail_end
        for _ in range(_TRIES):  # a block may hold a single line, and the screen be empty above it
            block = await reader.before(start)
            lines = list(cut(block.data, block.start)) + lines
            start = block.start
            if start == 0 or len(lines) >= _PAGE:
                break
        self._set(lines, None)
        self._at_tail = True
        self.post_message(self.Changed())

    async def _scan(self, reader: LogReader) -> None:
        """Show every line that matches, the newest if there are too many; what comes in meanwhile is in it too."""
        needles, self._matches, self._scanning = needle(self.text), 0, True
        self._set([], None)
        try:
            async for block in reader.blocks(0):
                # What lies behind the end that is followed is left to the follower, lest it be listed twice.
                self._add([line for line in hits(block.data, block.start, needles) if line.start < self._tail_end])
                if block.end >= self._tail_end:
                    break
        finally:
            self._scanning = False
            self.post_message(self.Changed())
        self.pane.to_end()

    # -- the window

    def _set(self, lines: list[LogLine], top: int | None) -> None:
        self._lines = lines[-MAX_LINES:]
        self.pane.show_window([self._shown(line) for line in self._lines], top)

    def _shown(self, line: LogLine) -> PaneLine:
        """Return the line as it is drawn: a line of ours between two files is a title, whatever a log may imitate."""
        if self._chain is not None and line.start in self._chain.marks and len(self.links) > 1:
            return PaneLine(shown(line).text, "title")
        one = shown(line)
        if not self.stamped:
            return one
        at_ms = self._seen.get(line.start)
        stamp = " " * 8 if at_ms is None else clock_time(at_ms, at_ms)
        return one._replace(text=f"{stamp}  {one.text}")

    def turn_stamps(self) -> None:
        """Show when each line was seen to come, or not. What stood there before this screen looked has no time."""
        self.stamped = not self.stamped
        at_end, top = self.pane.at_end, self.pane.top_line
        self._set(self._lines, None if at_end else top)
        self.post_message(self.Changed())

    def copied(self) -> str:
        """Return the lines that are on screen."""
        top = self.pane.top_line
        lines = self._lines[top : top + max(1, self.pane.size.height)]
        return "\n".join(visible(self._shown(line).text) for line in lines)

    async def write_to(self, path: Path) -> int:
        """Write the log (with ``only``: what matches) to a new file, as it came; returns the bytes. Raises OSError."""
        reader, total = self._reader, 0
        if reader is None:
            return 0
        needles = needle(self.text) if self.only else ()
        with path.open("xb") as file:
            async for block in reader.blocks(0):
                data = (
                    b"".join(one.data + b"\n" for one in hits(block.data, block.start, needles))
                    if needles
                    else block.data
                )
                total += file.write(data)
            total += file.write(self._rest if not needles else b"")
        return total

    def _add(self, lines: list[LogLine]) -> None:
        """Add matching lines at the end."""
        self._matches += len(lines)
        self._lines = (self._lines + lines)[-MAX_LINES:]
        self.pane.append([self._shown(line) for line in lines])

    def _take(self, lines: list[LogLine]) -> None:
        """Take lines that were written just now. A reader in the middle keeps the place, and hears how many came."""
        now_ms = self._wall_ms()
        self._seen.update((line.start, now_ms) for line in lines[-MAX_LINES:])
        for start in list(self._seen)[: max(0, len(self._seen) - MAX_LINES)]:
            del self._seen[start]
        if self.only and self.text:
            needles = needle(self.text)
            self._add([line for line in lines if any(one in line.data.lower() for one in needles)])
        elif self._at_tail and (self.pane.at_end or len(self._lines) + len(lines) <= MAX_LINES):
            self._lines = (self._lines + lines)[-MAX_LINES:]
            self.pane.append([self._shown(line) for line in lines])
        else:
            self._at_tail = False
            self.pane.behind += len(lines)
        self.post_message(self.Changed())

    def on_text_pane_behind(self, message: LogPane.Behind) -> None:
        message.stop()
        self.post_message(self.Changed())

    def on_log_pane_edge(self, message: LogPane.Edge) -> None:
        message.stop()
        self.post_message(self.Changed())
        reader = self._reader
        if reader is None:
            return
        if message.where == "end":
            self.workers.cancel_group(self, "log-page")  # lines that were on their way would push the end away
            if self._at_tail or self.only:
                self.pane.to_end()
            else:
                self._start(self._show_end(reader), "log-page")
        elif self.only or not self._lines:
            return
        elif message.where == "top" and self._lines[0].start > 0 and self._at_top:
            self._start(self._earlier(reader, self._lines[0].start), "log-page")
        elif message.where == "bottom" and not self._at_tail and self.pane.at_end:
            self._start(self._later(reader, self._lines[-1].end), "log-page")

    @property
    def _at_top(self) -> bool:
        """Say whether the reader is at the window's top: the edge that was told of may have been left meanwhile."""
        return self.pane.scroll_offset.y == 0

    async def _earlier(self, reader: LogReader, end: int) -> None:
        block = await reader.before(end)
        lines = list(cut(block.data, block.start))[-_PAGE:]
        if self._lines and self._lines[0].start == end and self._at_top:
            gone = self.pane.prepend([self._shown(line) for line in lines])
            self._lines = (lines + self._lines)[: len(lines) + len(self._lines) - gone]
            self._at_tail = self._at_tail and not gone
            self.post_message(self.Changed())

    async def _later(self, reader: LogReader, start: int) -> None:
        block = await reader.after(start)
        lines = list(cut(block.data, block.start))[:_PAGE]
        if self._lines and self._lines[-1].end == start:
            top = self.pane.top_line
            kept = (self._lines + lines)[-MAX_LINES:]
            top -= len(self._lines) + len(lines) - len(kept)
            behind = self.pane.behind
            self._set(kept, max(0, top))
            self._at_tail = kept[-1].end >= self._tail_end
            self.pane.behind = 0 if self._at_tail else behind
            self.post_message(self.Changed())

    # -- search

    def search(self) -> None:
        """Type what to look for."""
        self.query_one(FilterBar).open()

    @property
    def searching(self) -> bool:
        """Say whether there is something to clear."""
        return bool(self.text)

    def drop(self) -> None:
        """Forget what was looked for."""
        self.query_one(FilterBar).drop()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        message.stop()
        self.text = message.text.strip()
        if self.only and self._reader is not None:
            self._start(self._show_end(self._reader), "log-page")
        self.post_message(self.Changed())

    def on_filter_bar_left(self, message: FilterBar.Left) -> None:
        message.stop()
        self.pane.focus()
        if self.text and not self.only:
            self.jump(needle(self.text), -1)

    def turn_only(self) -> None:
        """Show only what matches, or everything again."""
        self.only = not self.only
        if self._reader is not None:
            self._start(self._show_end(self._reader), "log-page")

    def jump(self, needles: Sequence[bytes], step: int) -> None:
        """Go to the next (or the previous) line that holds one of the needles."""
        if self._reader is not None and needles:
            self._start(self._jump(self._reader, needles, step), "log-page")

    def jump_to_error(self, step: int) -> None:
        """Go to the next (or the previous) line that looks like an error."""
        self.jump(ERRORS, step)

    async def _jump(self, reader: LogReader, needles: Sequence[bytes], step: int) -> None:
        at = self._from(step)
        found = await (reader.find(needles, at) if step > 0 else reader.find_back(needles, at))
        if found is None:
            again = await (reader.find(needles, 0) if step > 0 else reader.find_back(needles, self._tail_end))
            if again is None:
                self.post_message(self.Said("nothing found in this log"))
                return
            self.post_message(self.Said("found from the other end on"))
            found = again
        self._here = found
        await self._reveal(reader, found)

    def _from(self, step: int) -> int:
        """Return where a search begins: behind the last find, else at the edge of what is in sight."""
        if self._here is not None:
            return self._here.end if step > 0 else self._here.start
        if not self._lines:
            return 0
        top, last = self.pane.top_line, len(self._lines) - 1
        return self._lines[top].start if step > 0 else self._lines[min(top + self.pane.size.height, last)].end

    async def _reveal(self, reader: LogReader, line: LogLine) -> None:
        index = next((at for at, one in enumerate(self._lines) if one.start == line.start), None)
        if index is None:
            before = await reader.before(line.start)
            after: Block = await reader.after(line.start)
            lines = list(cut(before.data, before.start))[-_PAGE:]
            index = len(lines)
            lines += list(cut(after.data, after.start))[:_PAGE]
            self._set(lines, index)
            self._at_tail = bool(lines) and lines[-1].end >= self._tail_end
        self.pane.reveal(index)
        self.post_message(self.Changed())

    # -- what is said

    def note(self) -> list[Piece]:
        """Return what the line above says of the log."""
        pieces: list[Piece] = []
        if self.text:
            pieces.append(Piece(f"{'only' if self.only else 'search'} {self.text}", "$warning", 8))
        if self.only and self.text:
            kept = f", the last {count(len(self._lines))} shown" if self._matches > len(self._lines) else ""
            words = "searching…" if self._scanning else f"{several(self._matches, 'matching line')}{kept}"
            pieces.append(Piece(words, "", 7))
        if self.stamped:
            pieces.append(Piece("times: when seen here", "$quiet", 6))
        pieces.append(Piece(f"wrap: {'on' if self.pane.wrapped else 'off'}", "$quiet", 1))
        if self.pane.behind:
            pieces.append(Piece(f"{several(self.pane.behind, 'new line')}: G follows", "bold $warning", 9))
        else:
            follows = self._at_tail and self.pane.at_end
            pieces.append(Piece(f"follow: {'on' if follows else 'off'}", "$quiet", 3))
        return pieces

    def _tell_rest(self) -> None:
        for line in self.query("#log-rest").results(Line):
            line.set_class(bool(self._rest), "-shown")
            line.show(self._unfinished)

    def _unfinished(self, cells: int) -> Sides:
        """The line that is still being written: a progress bar often never ends one."""
        rest: PaneLine = shown(LogLine(0, 0, self._rest))
        return Sides([Piece("…", "$quiet", 9), Piece(rest.text, "", 8)] if self._rest else [])
