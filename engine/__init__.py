"""Who does it: authoring, the coordinator, its workers, and ``monitor``, the one door for screens and the command line.

Knows nothing of screens.
"""

from __future__ import annotations
