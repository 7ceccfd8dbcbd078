"""What a new coordinator is started for."""

from __future__ import annotations

from typing import Literal

#: What a new coordinator is for. ``resume``: a person wants the run to go on. ``restart``: the last one crashed;
#: what was wished stays in force. ``retry``: what failed is tried again. ``stop``, ``cancel``: end what is left.
Intent = Literal["resume", "restart", "retry", "stop", "cancel"]
#: What a new coordinator does, by what it was started for.
BEGUN: dict[Intent, str] = {
    "resume": "a new coordinator goes on with the run",
    "restart": "a new coordinator took the run over",
    "retry": "a new coordinator tries again what failed",
    "stop": "stopping: a coordinator was started to end what is left",
    "cancel": "cancelling: a coordinator was started to end what is left",
}
