"""What happened: the append-only record of every root run, its lease, and the pool's queue beside it.

Knows nothing of processes, sockets or screens.
"""

from __future__ import annotations
