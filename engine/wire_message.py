"""What every message between processes is."""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, tag_field="t", forbid_unknown_fields=True, kw_only=True):
    """Base of all messages; unknown fields are refused."""


class WireError(Exception):
    """The peer sent what is not a frame of ours; its connection is closed."""
