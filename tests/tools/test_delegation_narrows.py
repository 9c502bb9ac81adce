"""Granting an agent something never widens what anybody may do: neither families nor a ceiling add
authority, at any depth, and what a shared agent does is done with the rights of whoever runs it.
"""

import json
from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.definitions import content as definition
from agents.definitions import sharing, versions
from agents.definitions.content import TOOL_FAMILIES
from agents.definitions.models import Mode
from agents.definitions.sharing import Holder, Kind, Right
from agents.journal.offloading import in_database
from agents.members.models import Member
from artifacts import reading, writing
from audit.refusals import Invalid
from tests.tools.conftest import Run
from tools.boundary import exposure, registry
from tools.boundary.contract import TIER_ORDER, Tier

FAMILIES = sorted({*TOOL_FAMILIES, "baseline", "discovery", "nothing"})
GRANT = st.tuples(
    st.frozensets(st.sampled_from(FAMILIES)), st.sampled_from(Tier), st.sampled_from(Mode.values)
)


def allowed(grant: tuple[frozenset[str], Tier, str]) -> frozenset[str]:
    families, ceiling, surface = grant
    return exposure.names_allowed(families=families, ceiling=ceiling, surface=surface)


def narrowed(
    outer: tuple[frozenset[str], Tier, str], inner: tuple[frozenset[str], Tier, str]
) -> tuple[frozenset[str], Tier, str]:
    """What an inner definition may ask for below an outer one."""
    ceiling = min(outer[1], inner[1], key=TIER_ORDER.index)
    return outer[0] & inner[0], ceiling, outer[2]


@pytest.mark.req("AGT-004", "AGT-012")
@settings(max_examples=500, deadline=None)
@given(GRANT, GRANT, GRANT)
def test_what_is_asked_for_below_is_within_what_is_allowed_above(
    top: tuple[frozenset[str], Tier, str],
    middle: tuple[frozenset[str], Tier, str],
    bottom: tuple[frozenset[str], Tier, str],
) -> None:
    second = narrowed(top, middle)
    third = narrowed(second, bottom)
    assert allowed(third) <= allowed(second) <= allowed(top)
    for grant in (top, second, third):
        for name in allowed(grant):
            tool = registry.resolve(name)
            assert exposure.within(tool.tier, grant[1])
            assert tool.family in grant[0] | {exposure.BASELINE} or tool.discovery


@pytest.mark.req("AGT-012")
@pytest.mark.parametrize("name", ["timeout_s", "result_limit", "scope", "access", "retries"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_definition_does_not_set_how_tools_work(name: str, inside: bool) -> None:
    plain = {"name": "Ferry", "persona": "Help."}
    asked = {"posture": {name: 1}} if inside else {name: 1}
    with pytest.raises(Invalid) as refused:
        definition.checked({**plain, **asked})
    field = "content.posture" if inside else f"content.{name}"
    assert [fault["field"] for fault in refused.value.fields] == [field]


@pytest.mark.req("AGT-004")
@pytest.mark.parametrize("as_copy", [False, True])
async def test_a_shared_agent_opens_nothing_of_its_owners(
    start_run: Callable[..., Run], alice: Member, bob: Member, as_copy: bool
) -> None:
    def lend() -> tuple[Run, UUID]:
        content = {
            "name": "Ferry",
            "persona": "Help.",
            "capability_ceiling": "write",
            "posture": {"tools": ["artifacts"]},
        }
        agent_id = versions.create(actor=alice, content=content).agent_id
        holder = Holder(Kind.MEMBER, bob.pk)
        sharing.change(
            actor=alice, agent_id=agent_id, wanted={holder: frozenset({Right.DUPLICATE})}
        )
        if as_copy:
            versions.duplicate(actor=bob, agent_id=agent_id)
        kept = writing.create(actor=alice, draft=writing.Draft("Plan", "text", "secret quay"))
        return start_run(bob), kept.artifact_id

    run, artifact_id = await in_database(lend)
    for name, arguments in (
        ("read_artifact", {"artifact_id": str(artifact_id)}),
        (
            "update_artifact",
            {"artifact_id": str(artifact_id), "content": "mine", "expected_version": 1},
        ),
    ):
        outcome = await run.call(name, arguments)
        view = json.loads(outcome.model_view)
        assert view["outcome"] == "error", name
        assert "quay" not in outcome.model_view
    newest = await in_database(reading.version, alice, artifact_id)
    assert (newest.number, newest.content) == (1, "secret quay")
