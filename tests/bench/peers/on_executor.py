"""``concurrent.futures.ProcessPoolExecutor``: a future an item, nothing recorded. What Python itself can do."""

from __future__ import annotations

from concurrent.futures import Future, ProcessPoolExecutor, wait

from tests.bench.peers import rig


def main() -> None:
    """Hand over the items and wait for all of them."""
    kind, count, width = rig.asked()
    with ProcessPoolExecutor(width) as pool:
        wait([pool.submit(abs, n) for n in range(width)])  # the processes are there
        rig.begun()
        items: list[Future[int]] = [Future() for _ in range(count)]
        for n in range(count):
            _step(pool, kind, n, 0, items[n])
        rig.ended(rig.known(item.result for item in items))


def _step(pool: ProcessPoolExecutor, kind: str, n: int, step: int, item: Future[int]) -> None:
    """Submit a step; the next one follows when it is done."""

    def follow(done: Future[int]) -> None:
        if (error := done.exception()) is not None:
            item.set_exception(error)
        elif kind == "steps" and step + 1 < rig.STEPS:
            _step(pool, kind, n, step + 1, item)
        else:
            item.set_result(n)

    try:
        pool.submit(rig.work, kind, n, step).add_done_callback(follow)
    except RuntimeError as error:  # the pool is broken
        item.set_exception(error)


if __name__ == "__main__":
    main()
