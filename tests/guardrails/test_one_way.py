"""No text of a model gets round the guardrails: the ways to a model and to an answer are few."""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, imports, runtime_sources, sample, within

# Who closes a turn: the host with a normalised answer, and a summing-up, which has no answer.
CLOSING = {"agents/turns/host.py", "agents/turns/compaction.py"}
# Who makes an entry that people read as an answer.
SPEAKING = {"agents/turns/host.py", "agents/turns/normaliser.py"}
MODEL = ("agents.gateway.stream", "agents.gateway.client")
GUARDRAILS = "agents.guardrails"


def closing_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, "closes a turn past the normaliser")
        for source in sources
        if source.path.startswith("agents/") and source.path not in CLOSING
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "answers.settle"
    ]


def speaking_faults(sources: Iterable[Source]) -> list[str]:
    """Comparing with the kind of an answer is reading; handing it to something makes one."""
    return [
        source.at(node, "writes an answer of its own")
        for source in sources
        if source.path.startswith(("agents/", "tools/")) and source.path not in SPEAKING
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("Draft")
        and any(ast.unparse(given) == "Kind.ASSISTANT_MESSAGE" for given in node.args)
    ]


def asking_faults(sources: Iterable[Source]) -> list[str]:
    """Whoever asks a model for a turn has the guardrails at hand."""
    faults = []
    for source in sources:
        if not source.path.startswith("agents/turns/"):
            continue
        names = [name for _, name in imports(source, types=False)]
        if any(within(name, *MODEL) for name in names) and not any(
            within(name, GUARDRAILS) for name in names
        ):
            faults.append(source.at(1, "asks a model without guardrails"))
    return faults


@pytest.mark.req("NRM-001", "NRM-005")
def test_an_answer_has_one_way_to_being_kept() -> None:
    assert closing_faults(runtime_sources()) == []
    assert speaking_faults(runtime_sources()) == []
    (host,) = [source for source in runtime_sources() if source.path == "agents/turns/host.py"]
    assert "normaliser.closed" in host.text


@pytest.mark.req("GRD-001", "GRD-012")
def test_no_turn_asks_a_model_without_guardrails() -> None:
    asking = [
        source
        for source in runtime_sources()
        if source.path.startswith("agents/turns/")
        and any(within(name, *MODEL) for _, name in imports(source))
    ]
    assert len(asking) >= 2
    assert asking_faults(runtime_sources()) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("agents/turns/x.py", "answers.settle(admitted, pending, effect, spent)"),
        ("agents/api/x.py", "journal.append(i, [Draft(Kind.ASSISTANT_MESSAGE, {})])"),
        ("agents/turns/x.py", "from agents.gateway.stream import stream"),
        ("agents/turns/x.py", "from agents.gateway import client"),
    ],
)
def test_another_way_is_found(path: str, text: str) -> None:
    sources = [sample(path, text)]
    assert [*closing_faults(sources), *speaking_faults(sources), *asking_faults(sources)]
