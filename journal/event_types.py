"""The types of events that the journal itself writes."""

from __future__ import annotations

from typing import Final

CHILD_ENQUEUED: Final = "ChildEnqueued"
CHECKPOINT_RECORDED: Final = "CheckpointRecorded"
WORK_COMPLETED: Final = "WorkCompleted"
WORK_FAILED: Final = "WorkFailed"
WORK_CANCELLED: Final = "WorkCancelled"
WORK_RETRIED: Final = "WorkRetried"
CONTROL_CHANGED: Final = "ControlChanged"
STATUS_CHANGED: Final = "StatusChanged"
SETTING_CHANGED: Final = "SettingChanged"
HOLD_CHANGED: Final = "HoldChanged"
RUN_ENDED: Final = "RunEnded"
PROMPT_ASKED: Final = "PromptAsked"
PROMPT_ANSWERED: Final = "PromptAnswered"
PROMPT_CLOSED: Final = "PromptClosed"
MESSAGE_ACCEPTED: Final = "MessageAccepted"
MESSAGE_DELIVERED: Final = "MessageDelivered"
MESSAGE_SETTLED: Final = "MessageSettled"

#: Events that do not tell how the run as a whole stands (SPEC 1.1); nor does any event of a work item.
NOT_SNAPSHOTS: Final = (CHECKPOINT_RECORDED, MESSAGE_ACCEPTED, MESSAGE_DELIVERED, MESSAGE_SETTLED, PROMPT_CLOSED)
