"""Who is measured, with what, and what each promises of the work that it was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Peer:
    """One system in one mode. ``program`` is a module of this folder; ``needs`` are requirements of its environment.

    ``durable`` says what is on disk when a result is told, ``resumes`` what is left to do after everything was killed.
    ``without`` are kinds of work that it does not have; ``slow`` ones get a quarter of the items unless FULL=1.
    ``target`` is how many times as fast no-op items are asked of us, in the same run.
    """

    name: str
    program: str
    durable: str
    resumes: str
    needs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    without: tuple[str, ...] = ()
    target: float | None = None
    slow: bool = False


OURS: Final = Peer(
    "Poolboard",
    "on_poolboard",
    "every result and every step, fsync before it is acknowledged",
    "the run, from what was recorded",
)
EXECUTOR: Final = Peer(
    "ProcessPoolExecutor", "on_executor", "nothing", "nothing: a killed worker breaks the pool", target=0.5
)
HUEY: Final = Peer(
    "Huey, SQLite, as it comes",
    "on_huey",
    "every result; synchronous as SQLite has it by default (FULL)",
    "what is queued; a task in flight is lost",
    needs=("huey==3.5.4",),
    target=3.0,
)
HUEY_FAST: Final = Peer(
    "Huey, SQLite, fsync=False",
    "on_huey",
    "every result, no fsync (synchronous=OFF)",
    "what is queued, if the machine stayed up",
    needs=("huey==3.5.4",),
    environment=(("BENCH_FSYNC", "0"),),
)
DBOS: Final = Peer(
    "DBOS Transact, SQLite",
    "on_dbos",
    "every result and every step, synchronous as SQLite has it by default (FULL)",
    "each workflow, from its recorded steps",
    needs=("dbos==3.4.0",),
    target=10.0,
    slow=True,
)
CELERY: Final = Peer(
    "Celery, Redis, appendfsync everysec",
    "on_celery",
    "every result, fsync each second",
    "what is queued or was not acknowledged, less the last second",
    needs=("celery[redis]==5.7.0",),
    commands=("redis-server",),
    target=4.0,
)
CELERY_FSYNC: Final = Peer(
    "Celery, Redis, appendfsync always",
    "on_celery",
    "every result, fsync before it is acknowledged",
    "what is queued or was not acknowledged",
    needs=("celery[redis]==5.7.0",),
    commands=("redis-server",),
    environment=(("BENCH_FSYNC", "1"),),
)
DASK: Final = Peer(
    "Dask distributed",
    "on_dask",
    "nothing: results are in the workers' memory",
    "nothing; results of a killed worker are computed again",
    needs=("distributed==2026.8.0",),
    target=5.0,
)
RAY: Final = Peer(
    "Ray tasks",
    "on_ray",
    "nothing: results are in memory",
    "nothing; a task of a killed worker is run again",
    needs=("ray==2.60.0",),
    target=2.0,
)
PARALLEL: Final = Peer(
    "GNU parallel --joblog",
    "on_parallel",
    "a line of the job log for each job, no fsync",
    "jobs without a line, by --resume",
    commands=("parallel", "bash"),
    without=("steps",),
    slow=True,
)
PEERS: Final = (OURS, EXECUTOR, HUEY, HUEY_FAST, DBOS, CELERY, CELERY_FSYNC, DASK, RAY, PARALLEL)
