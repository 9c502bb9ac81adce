"""A limit is an integer that says what it bounds."""

import json
from uuid import uuid4

import pytest
from django.db import connection

from audit import limits


def declare(value: int = 40) -> limits.Limit:
    return limits.limit(f"test.{uuid4().hex}", value, "bytes", "A bound for this test.")


@pytest.mark.usefixtures("db")
@pytest.mark.req("CFG-002")
def test_it_behaves_as_the_number_it_is() -> None:
    bound = declare()
    assert bound == 40
    assert 39 < bound < 41
    assert json.dumps([bound, bound * 2]) == "[40, 80]"
    assert f"{bound:,} bytes" == "40 bytes"
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s + 1", [bound])
        assert cursor.fetchone() == (41,)


@pytest.mark.req("CFG-002")
def test_it_is_listed_with_its_unit_and_meaning() -> None:
    bound = declare()
    listed = {declaration.name: declaration for declaration in limits.declared()}
    assert listed[bound.name] == limits.Declaration(
        bound.name, 40, "bytes", "A bound for this test."
    )
    assert list(listed) == sorted(listed)


def test_it_cannot_be_declared_twice_or_without_sense() -> None:
    bound = declare()
    with pytest.raises(ValueError, match="twice"):
        limits.limit(bound.name, 41, "bytes", "Another.")
    with pytest.raises(ValueError, match="unknown unit"):
        limits.limit("test.unit", 41, "furlongs", "Another.")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nothing"):
        limits.limit("test.meaning", 41, "bytes", " ")
