"""The command palette: every registered action of the screen below, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from .action import Action
from .actions import in_scope
from .screen import PoolScreen


class ActionCommands(Provider):
    """Offers the actions; one that cannot be used now says why."""

    async def discover(self) -> Hits:
        for action, screen, text in self._actions():
            yield DiscoveryHit(Content(text), partial(screen.perform, action.id), text, action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action, screen, text in self._actions():
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, matcher.highlight(text), partial(screen.perform, action.id), text, action.help)

    def _actions(self) -> Iterator[tuple[Action, PoolScreen, str]]:
        screen = self.screen
        if not isinstance(screen, PoolScreen):
            return
        situation = screen.situation()
        listed = in_scope("table") if screen.list_in_front() is not None else []
        for action in (*in_scope(screen.SCOPE), *listed):
            if action.id in ("palette", "enter"):
                continue
            reason = screen.reason_now(action)
            text = f"{action.label_now(situation)}  ({action.key})" + (f"  not now: {reason}" if reason else "")
            yield action, screen, text
