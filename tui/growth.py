"""Telling a scrolled view how many lines it has, without laying out the whole screen each time."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def grow(view: ScrollView, lines: int) -> None:
    """Set the height of what is scrolled.

    Textual lays out every widget when it changes (20 ms and more). That is needed only where the view itself gets
    another size: its height follows its lines, or its scrollbar comes or goes.
    """
    size = Size(1, lines)
    if size == view.virtual_size:
        return
    height = view.styles.height
    scrolls = lines > view.container_size.height
    if height is None or height.is_auto or not view.container_size or scrolls != view.show_vertical_scrollbar:
        view.virtual_size = size
        return
    view.set_reactive(Widget.virtual_size, size)
    if scrolls:
        view.vertical_scrollbar.window_virtual_size = lines
