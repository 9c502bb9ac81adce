"""Which runs may go on, asked for all runs of a worker at once."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.definitions import publication, sharing, versions
from agents.definitions.sharing import Holder, Kind, Right
from agents.members import accounts
from agents.members.models import Member
from agents.turns import authority
from tools.boundary.contract import RunIdentity

pytestmark = pytest.mark.django_db


def run_of(member: Member, agent_id: UUID) -> RunIdentity:
    return RunIdentity(
        run_id=uuid4(),
        fence=1,
        member_id=member.pk,
        conversation_id=uuid4(),
        agent_id=agent_id,
        agent_version=1,
    )


def agent_of(owner: Member, name: str) -> UUID:
    return versions.create(actor=owner, content={"name": name, "persona": "Help."}).agent_id


@pytest.mark.req("AGT-014")
def test_each_run_is_judged_by_its_own_member_and_agent(
    alice: Member, bob: Member, charlie: Member, ada: Member, make_member: Callable[..., Member]
) -> None:
    crew = Group.objects.create(name="Crew")
    for member in (alice, charlie):
        member.groups.add(crew)
    lent, open_to_all, gone = (agent_of(alice, name) for name in ("Lent", "Open", "Gone"))
    holders = (Holder(Kind.MEMBER, bob.pk), Holder(Kind.GROUP, crew.pk))
    sharing.change(
        actor=alice,
        agent_id=lent,
        wanted={holder: frozenset({Right.USE}) for holder in holders},
    )
    publication.publish(actor=ada, agent_id=open_to_all)
    versions.delete(actor=alice, agent_id=gone)
    left = make_member("inga")
    accounts.change(actor="system:tests", member=left, display_name="Inga", is_active=False)
    going_on = [
        run_of(alice, lent),
        run_of(bob, lent),
        run_of(charlie, lent),
        run_of(ada, open_to_all),
        run_of(bob, open_to_all),
    ]
    ended = [
        run_of(ada, lent),
        run_of(alice, gone),
        run_of(left, open_to_all),
        run_of(bob, uuid4()),
    ]
    assert authority.withdrawn([*going_on, *ended]) == {run.run_id for run in ended}


def test_many_runs_cost_as_many_statements_as_one(alice: Member, bob: Member) -> None:
    agents = [agent_of(owner, f"Ferry {n}") for owner in (alice, bob) for n in range(5)]
    runs = [run_of(member, agent_id) for member in (alice, bob) for agent_id in agents]
    taken = []
    for asked in (runs[:1], runs):
        with CaptureQueriesContext(connection) as queries:
            authority.withdrawn(asked)
        taken.append(len(queries))
    assert taken == [2, 2]
    assert authority.withdrawn([]) == set()
