"""What the boundary asks the database for one call, on the way of every tool step."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.journal.offloading import in_database
from agents.members.models import Member
from agents.turns import authority
from tests.approvals.asking import PLAN
from tests.turns.admitting import asked, prepare, took
from tools.boundary import authority as boundary
from tools.boundary.contract import Json, Ports, ToolCall
from tools.boundary.permission import Permitted

pytestmark = pytest.mark.django_db

# Savepoint and release stand for begin and commit.
STATEMENTS_TO_READ = 5
STATEMENTS_TO_CHANGE = 9


@pytest.mark.parametrize(
    ("tool", "arguments", "statements"),
    [
        ("search_about", {"question": "How do I stop an answer?"}, STATEMENTS_TO_READ),
        ("create_artifact", PLAN, STATEMENTS_TO_CHANGE),
    ],
)
def test_deciding_about_a_call_costs_a_fixed_number_of_statements(
    tool: str, arguments: Json, statements: int, alice: Member
) -> None:
    prepare()
    admitted = took(asked(alice))
    ports = Ports(authority=authority.now, in_database=in_database, offered=admitted.offered)
    counts = []
    for number in range(2):
        call = ToolCall(f"{uuid4()}", 1, number, tool, arguments)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            verdict = boundary._decided(call, admitted.identity, ports)
        assert isinstance(verdict, Permitted)
        counts.append(len(queries))
    assert counts == [statements] * 2, [query["sql"] for query in queries]
