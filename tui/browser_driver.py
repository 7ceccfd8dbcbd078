"""Textual's driver for the web as ``poolboard serve`` needs it: one that notices that nobody is there."""

from __future__ import annotations

from textual.drivers.web_driver import WebDriver
from textual.messages import ExitApp


class BrowserDriver(WebDriver):
    """Leaves when the server has gone.

    Textual's own (8.2.8) only stops reading then: after a kill -9 of the server its screens would stay for ever.
    """

    def run_input_thread(self) -> None:
        super().run_input_thread()
        self._app.post_message(ExitApp())
