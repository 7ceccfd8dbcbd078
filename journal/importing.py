"""Reading one run from JSON lines into a journal: everything is checked before anything is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import batched, chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from pydantic import ValidationError

from .content import check_content
from .deleting import NEXT_NUMBER
from .driver import Connection
from .errors import BadPayload, IdentityConflict
from .exporting import TABLES
from .file import clear_errors, open_writer
from .finding import Findings
from .positions import base
from .recount import recount
from .states import WORK_STATES
from .transfer import LONGEST_LINE_BYTES, ROWS, ControlLine, End, Head, LeaseLine, RunLine

#: Rows of one ``executemany``.
BATCH: Final = 1_000
#: Fields that are bytes in the table and hex in a line.
HEX: Final = frozenset({"key", "request"})
