"""Sets of numbers as ranges ``(first, last)``, for people (``1,5-9``) and for the wire. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

#: The most numbers that one wish names.
MOST_NUMBERS = 1_000_000

Ranges = list[tuple[int, int]]


def ranges_of(numbers: Iterable[int]) -> Ranges:
    """Return the numbers, sorted, as few ranges as possible."""
    found: Ranges = []
    for n in sorted(set(numbers)):
        if found and found[-1][1] == n - 1:
            found[-1] = (found[-1][0], n)
        else:
            found.append((n, n))
    return found


def numbers_in(ranges: Iterable[tuple[int, int]]) -> Collection[int]:
    """Return the numbers of the ranges; a million of them at most, the rest is cut."""
    found: set[int] = set()
    for first, last in ranges:
        found.update(range(first, min(last, first + MOST_NUMBERS - len(found) - 1) + 1))
    return found


def parse(text: str) -> Ranges:
    """Return what ``1,5-9`` means; raises ValueError saying what is wrong with it."""
    found: Ranges = []
    for part in text.split(","):
        head, dash, tail = part.strip().partition("-")
        if not (head.isascii() and head.isdigit() and (not dash or (tail.isascii() and tail.isdigit()))):
            raise ValueError(f"{part.strip()[:40]!r} is no number and no range like 5-9")
        first, last = int(head), int(tail if dash else head)
        if last < first:
            raise ValueError(f"{part.strip()[:40]!r} ends before it begins")
        found.append((first, last))
    if sum(last - first + 1 for first, last in found) > MOST_NUMBERS:
        raise ValueError(f"{text[:40]!r} names more than {MOST_NUMBERS:,} numbers")
    return found


def told(numbers: Iterable[int]) -> str:
    """Return numbers as a person writes them, the first ranges only: ``1, 5-9, …``."""
    ranges = ranges_of(numbers)
    words = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:8]]
    return ", ".join(words) + (", …" if len(ranges) > 8 else "")
