"""tool_search: finds tools of the run's catalogue and nothing else."""

import json
from dataclasses import replace

import pytest

from audit.reasons import Reason
from tests.tools.conftest import Run
from tools.boundary import registry
from tools.boundary.facts import CallFacts

SEARCH = registry.resolve("tool_search")
PLAIN = registry.resolve("list_available_agents")


def large(run: Run) -> None:
    """Put thirty tools about folders, one about invoices, and the search into the catalogue."""
    for n in range(30):
        name = f"folder_{n:02}"
        run.offered[name] = replace(
            PLAIN, name=name, label="Working in folders", description="Moves folders. " * 40
        )
    run.offered["pay_invoice"] = replace(PLAIN, name="pay_invoice", label="Paying an invoice")
    run.offer(SEARCH)


@pytest.mark.req("REG-035", "TST-002")
async def test_the_model_sees_at_most_eight_names_and_short_descriptions(run: Run) -> None:
    large(run)
    outcome = await run.call("tool_search", {"query": "move some folders"})
    view = json.loads(outcome.model_view)
    assert set(view) == {"outcome", "tools", "message"}
    assert len(view["tools"]) == 8
    assert all(set(tool) == {"name", "description"} for tool in view["tools"])
    assert max(len(tool["description"]) for tool in view["tools"]) == 300
    names = tuple(tool["name"] for tool in view["tools"])
    assert outcome.discovered == names
    assert outcome.discovery is True
    assert set(names) <= set(run.memory.catalogue) - {"tool_search"}
    assert outcome.member_view == {"message": "Found 8 tools."}
    assert set(names) <= set(run.memory.offer())


async def test_a_name_of_a_tool_that_is_not_in_the_catalogue_is_not_found(run: Run) -> None:
    large(run)
    for query in ("run_anything", "pay_everyone", "delete folders"):
        outcome = await run.call("tool_search", {"query": query})
        assert set(outcome.discovered) <= set(run.memory.catalogue)
    nothing = await run.call("tool_search", {"query": "zzz"})
    assert json.loads(nothing.model_view)["tools"] == []
    assert nothing.discovered == ()
    assert nothing.member_view == {"message": "Found no tool for this."}
    paying = await run.call("tool_search", {"query": "pay this invoice"})
    assert [tool["name"] for tool in json.loads(paying.model_view)["tools"]] == ["pay_invoice"]


async def test_a_tool_that_has_failed_too_often_is_not_found_again(run: Run) -> None:
    large(run)
    for n in range(5):
        run.memory.health.observe(
            CallFacts(f"f-{n}", "pay_invoice", "error", arguments_digest=str(n % 2))
        )
    outcome = await run.call("tool_search", {"query": "invoice"})
    assert outcome.discovered == ()


async def test_a_tool_that_is_not_shown_is_told_apart_from_an_invented_one(run: Run) -> None:
    large(run)
    run.offered = run.memory.offer()
    assert "pay_invoice" not in run.offered
    hidden, invented = await run.call("pay_invoice"), await run.call("pay_everybody")
    assert [outcome.denial for outcome in (hidden, invented)] == [Reason.TOOL_NOT_OFFERED] * 2
    assert "not shown to you in this step" in hidden.model_view
    assert "no tool of this name" in invented.model_view
    assert hidden.why[-1]["text"] == "The agent has this tool and was not shown it in this step."
