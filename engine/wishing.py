"""Wishes about what children share and ask: limits changed live."""

from __future__ import annotations

from .asking import Asking
from .views import Acknowledgement


class Wishing(Asking):
    """One that asks, also about limits."""

    async def set_limit(self, run_id: str, name: str, text: str, by: str = "user") -> Acknowledgement:
        """Make a limit of a live run ``4`` or ``60/min``, from now on. Raises CoordinatorGone, UserMistake."""
        from .wire_limits import ChangeLimit

        return await self._wish(
            run_id, lambda client: client.wish("limit", lambda req: ChangeLimit(req=req, name=name, text=text, by=by))
        )
