"""Journal adapters that came with a package: entry points of the group ``poolboard.journals``, chosen by an address.

The entry point's name is the address's scheme: ``diary`` opens ``diary://anything``. Its factory takes the whole
address and returns a journal, or something that is awaited for one. An address may hold a password: only its scheme is
shown.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final

from .adapter import imported, open_with
from .errors import JournalUnusable
from .guarded import GuardedJournal

GROUP: Final = "poolboard.journals"


def is_installed(scheme: str) -> bool:
    """Tell whether a package offers an adapter of that name."""
    return bool(_offers(scheme))


async def open_installed(where: str, address: str) -> GuardedJournal:
    """Open the journal at the address behind a guard; ``where`` is its ``scheme://``, for messages.

    Raises JournalUnusable if the adapter cannot be loaded, gives no journal, or two packages offer one of that name;
    StorageUnavailable if its factory fails.
    """
    offers = _offers(where.removesuffix("://"))
    if len(offers) != 1:
        packages = ", ".join(sorted(offer.dist.name if offer.dist else offer.value for offer in offers)) or "nobody"
        raise JournalUnusable(f"the journal adapter {where} is offered by {packages}: exactly one package must")
    factory = imported(where, offers[0].load)
    if not callable(factory):
        raise JournalUnusable(f"the journal adapter {where} has no factory: {offers[0].value} cannot be called")
    return await open_with(factory, where, address)


def _offers(scheme: str) -> list[EntryPoint]:
    # A package found twice on the path (a checkout and its installation) is one.
    found = {
        (offer.dist.name if offer.dist else "", offer.value): offer for offer in entry_points(group=GROUP, name=scheme)
    }
    return list(found.values())
