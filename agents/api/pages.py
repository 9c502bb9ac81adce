"""Lists: at most a hundred items, and a signed cursor to the next ones.

A cursor names the last row that was given by the values the list is ordered by. It is signed for
one person, one list and one set of filters, so it can be neither guessed nor carried elsewhere,
and rows that come or go do not shift what follows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, runtime_checkable
from uuid import UUID

from django.core import signing
from django.db.models import Q, QuerySet

from agents.api.operations import Call
from agents.api.shapes import DEFAULT_ITEMS
from audit.reasons import Reason
from audit.refusals import Refusal

_PAGING: Final = frozenset({"cursor", "limit"})


@dataclass(frozen=True)
class Order:
    """How a list is ordered: newest first by `moment` with the id breaking ties, or by number.

    `fields` are the columns in order, all descending; `read` turns a cursor's texts into values.
    """

    fields: tuple[str, ...]
    read: tuple[Callable[[str], Any], ...]

    def of(self, row: Any) -> list[str]:
        """The cursor's values of a row."""
        values = [getattr(row, name) for name in self.fields]
        return [
            value.isoformat() if isinstance(value, datetime) else str(value) for value in values
        ]

    def beyond(self, values: Sequence[str]) -> Q:
        """Rows that come after the one with these values; raises ValueError for nonsense."""
        wanted = [read(text) for read, text in zip(self.read, values, strict=True)]
        condition = Q(pk__in=[])
        for depth, name in enumerate(self.fields):
            same = Q(**dict(zip(self.fields[:depth], wanted[:depth], strict=True)))
            condition |= same & Q(**{f"{name}__lt": wanted[depth]})
        # Follows from the rest, and says it in a form that an index can start from.
        return Q(**{f"{self.fields[0]}__lte": wanted[0]}) & condition


def newest_first(moment: str) -> Order:
    """Order by a time and the id, both descending."""
    return Order(fields=(moment, "id"), read=(datetime.fromisoformat, UUID))


BY_NUMBER: Final = Order(fields=("number",), read=(int,))


@runtime_checkable
class Reachable(Protocol):
    """Rows that people reach in several ways, each with an order of its own."""

    def nearest(self, member: Any, count: int, *order: str) -> Any:
        """The rows that can be among the first `count` in this order."""


def page(
    rows: QuerySet[Any], order: Order, call: Call, *, name: str, project: Callable[[Any], Any]
) -> dict[str, Any]:
    """One page as the contract states it. `name` is the list, with its parent's id if any."""
    size = call.query.get("limit", DEFAULT_ITEMS)
    signer = signing.Signer(salt=f"cursor:{name}:{call.member.pk}:{_filters(call)}")
    if call.query.get("cursor"):
        rows = rows.filter(_beyond(order, signer, call.query["cursor"]))
    descending = [f"-{field}" for field in order.fields]
    if isinstance(rows, Reachable):
        rows = rows.nearest(call.member, size + 1, *descending)
    found = list(rows.order_by(*descending)[: size + 1])
    more = len(found) > size
    items = found[:size]
    return {
        "items": [project(row) for row in items],
        "next": signer.sign_object(order.of(items[-1]), compress=False) if more else None,
    }


def _beyond(order: Order, signer: signing.Signer, cursor: str) -> Q:
    try:
        return order.beyond(signer.unsign_object(cursor))
    except (signing.BadSignature, ValueError, TypeError):
        raise Refusal(Reason.INVALID_CURSOR, "This cursor was not given for this list.") from None


def _filters(call: Call) -> str:
    kept = {name: str(value) for name, value in call.query.items() if name not in _PAGING}
    return "&".join(f"{name}={kept[name]}" for name in sorted(kept))
