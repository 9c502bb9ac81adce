"""Rows that people reach in several ways: own ones, those for everybody, those shared with them.

The rule stands in one condition, `Reached`, written as SQL because it is part of nearly every
question, also on the way to the first token: composed by the ORM it costs several milliseconds to
compile. `nearest` makes a list of such rows cost the same however many rows there are.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from django.db import connection, models
from django.db.models import F, Func, Q
from django.db.models.lookups import Exact

Rows = TypeVar("Rows", bound="models.QuerySet[Any]")

# Ids of permissions and groups are looked up once a statement, so that an index finds the share.
PERMITTED: Final = """share.permission_id = ANY(ARRAY(
           SELECT id FROM auth_permission WHERE codename = ANY(%s)))"""
BY_PERSON: Final = f"""
    SELECT share.content_object_id FROM {{table}}userobjectpermission AS share
     WHERE share.user_id = %s AND {PERMITTED}
"""
BY_GROUP: Final = f"""
    SELECT share.content_object_id FROM {{table}}groupobjectpermission AS share
     WHERE share.group_id = ANY(ARRAY(
           SELECT group_id FROM members_member_groups WHERE member_id = %s)) AND {PERMITTED}
"""
FEW: Final = 300  # shares of one person that are named one by one


class Reached(Func):
    """Whether a person owns a row or holds one of some rights on it, by themselves or by a group.

    `everybody` is a further condition that opens a row, as SQL about `{row}`; it holds no values.
    With `only_shares`, owning and that condition count for nothing. Shares are asked about row by
    row: OFFSET keeps the database from reading all of a person's.
    """

    def __init__(
        self,
        person: Any,
        rights: Sequence[str],
        everybody: str = "",
        *,
        only_shares: bool = False,
    ) -> None:
        super().__init__(F("pk"), F("owner"), output_field=models.BooleanField())
        self.asked = (person, list(rights))
        self.everybody = everybody
        self.only_shares = only_shares

    def as_sql(
        self, compiler: Any, connection: Any, *args: Any, **options: Any
    ) -> tuple[str, tuple[Any, ...]]:
        """An own row, an open one, or two probes of an index."""
        key, owner = (compiler.compile(each)[0] for each in self.get_source_expressions())
        table = row_table(self.get_source_expressions()[0])
        ways = [
            f"EXISTS ({shares.format(table=table)} AND share.content_object_id = {key} OFFSET 0)"
            for shares in (BY_PERSON, BY_GROUP)
        ]
        values: tuple[Any, ...] = (*self.asked, *self.asked)
        if not self.only_shares:
            opened = [self.everybody.format(row=key.rpartition(".")[0])] if self.everybody else []
            ways = [f"{owner} = %s", *opened, *ways]
            values = (self.asked[0], *values)
        return f"({' OR '.join(ways)})", values


def row_table(key: Any) -> str:
    """The table whose key an expression is; tables of its shares begin with the same name."""
    return str(key.target.model._meta.db_table)


def nearest(
    rows: Rows, person: Any, rights: Sequence[str], count: int, order: Sequence[str], *more: Q
) -> Rows:
    """The same rows, narrowed to those that can be among the first `count` in this order.

    Each way to a row gives its own first rows, which an index holds in order; `more` are ways
    besides owning and shares. Narrows rows that `Reached` has let through, and lets none through:
    the rows keep their condition. Costs one statement more, that of `shares`. Rows that are all one
    owner's are in order as they are.
    """
    if _of_one_owner(rows):
        return rows
    named = shares(rows.model, person, rights)
    return narrowed(rows, person, rights, named, count, order, *more)


def shares(model: type[models.Model], person: Any, rights: Sequence[str]) -> list[Any] | None:
    """Keys of rows shared with a person, None where they are too many to be named."""
    table = model._meta.db_table
    either = " UNION ALL ".join(some.format(table=table) for some in (BY_PERSON, BY_GROUP))
    asked = [person, list(rights)]
    with connection.cursor() as cursor:
        cursor.execute(f"{either} LIMIT {FEW + 1}", [*asked, *asked])
        found = [key for (key,) in cursor.fetchall()]
    return found if len(found) <= FEW else None


def narrowed(
    rows: Rows,
    person: Any,
    rights: Sequence[str],
    named: Any,
    count: int,
    order: Sequence[str],
    *more: Q,
) -> Rows:
    """As `nearest`, for who has asked `shares` before: a few are looked up as they are named; of
    many, some come soon along the order.
    """
    many = Q(Reached(person, rights, only_shares=True))
    ways = [Q(owner_id=person), *more, many if named is None else Q(pk__in=named)]
    others = _all_of_anybody(rows)
    first, *rest = (others.filter(way).order_by(*order).values("pk")[:count] for way in ways)
    return rows.filter(pk__in=first.union(*rest, all=True))


def _of_one_owner(rows: "models.QuerySet[Any]") -> bool:
    return any(
        isinstance(child, Exact)
        and getattr(getattr(child.lhs, "target", None), "name", "") == "owner"
        for child in rows.query.where.children
    )


def _all_of_anybody(rows: Rows) -> Rows:
    """The same question without who asks; every way asks that in its own form."""
    rows = rows.all()
    where = rows.query.where.clone()
    where.children = [
        child
        for child in where.children
        if not (isinstance(child, Exact) and isinstance(child.lhs, Reached))
    ]
    rows.query.where = where
    return rows
