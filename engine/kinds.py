"""What kinds of recorded outcomes there are. Apart, so that who only reads them need not load what makes them."""

from __future__ import annotations

#: The kind of an event that tells of a failed try, not of a call's outcome.
TRY = "try"
