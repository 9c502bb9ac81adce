"""There is one way into the audit, and tools, agents and bundles have none of their own."""

import ast
from collections.abc import Iterable

import pytest

from tests.boundaries.source import Source, imports, runtime_sources, sample, strings, within

TABLES = ("audit_event", "audit_chain_head", "audit_anchor")
# What a tool or the engine may know of the audit: words, not the writer.
WORDS = ("audit.reasons", "audit.refusals", "audit.canonical", "audit.limits")


def writer_faults(sources: Iterable[Source]) -> list[str]:
    """Rows of the audit are touched in no other package: not by model, by registry or by SQL."""
    faults = []
    for source in sources:
        if source.app == "audit":
            continue
        faults += [
            source.at(node, f"imports {name}")
            for node, name in imports(source)
            if within(name, "audit.models", "audit.chains", "audit.details")
        ]
        faults += [
            source.at(node, "asks the registry for a model of the audit")
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("get_model")
            and "audit" in ast.unparse(node)
        ]
        faults += [
            source.at(node, "names a table of the audit")
            for node in strings(source)
            if any(table in node.value for table in TABLES)
        ]
    return faults


def own_path_faults(sources: Iterable[Source]) -> list[str]:
    """Tool implementations, the engine, prompts and definitions' bundles record nothing
    themselves.
    """
    return [
        source.at(node, f"imports {name}")
        for source in sources
        if source.app in {"tools.builtin", "agents.engine", "agents.prompts"}
        for node, name in imports(source)
        if within(name, "audit") and not within(name, *WORDS)
    ]


def funnel_faults(sources: Iterable[Source]) -> list[str]:
    """Codes are members of the vocabularies, never texts, so that a search for a code finds its
    users.
    """
    faults = []
    for source in sources:
        for node in ast.walk(source.tree):
            if not (
                isinstance(node, ast.Call) and ast.unparse(node.func) in {"funnel.record", "record"}
            ):
                continue
            faults += [
                source.at(node, f"gives {keyword.arg} as a text")
                for keyword in node.keywords
                if keyword.arg in {"action", "reason"}
                and isinstance(keyword.value, ast.Constant | ast.JoinedStr)
                and getattr(keyword.value, "value", "") is not None
            ]
    return faults


@pytest.mark.req("AUD-003")
def test_nothing_outside_the_audit_writes_its_rows() -> None:
    assert writer_faults(runtime_sources()) == []


@pytest.mark.parametrize(
    "text",
    [
        "from audit.models import AuditEvent",
        "from audit import models",
        'apps.get_model("audit", "AuditEvent")',
        'cursor.execute("INSERT INTO audit_event VALUES (1)")',
    ],
)
def test_another_writer_is_found(text: str) -> None:
    assert writer_faults([sample("agents/turns/x.py", text)])


@pytest.mark.req("AUD-003", "TOOL-020")
def test_tools_prompts_and_the_engine_have_no_audit_path() -> None:
    assert own_path_faults(runtime_sources()) == []


def test_an_audit_path_of_a_tool_is_found() -> None:
    for line in (
        "from audit import funnel",
        "from audit.metrics import tool_run",
        "import audit.anchors",
    ):
        assert own_path_faults([sample("tools/builtin/x.py", line)])
    assert own_path_faults([sample("tools/builtin/x.py", "from audit.reasons import Reason")]) == []


@pytest.mark.req("AUD-002")
def test_codes_are_given_as_members_of_the_vocabularies() -> None:
    assert funnel_faults(runtime_sources()) == []


def test_a_code_given_as_text_is_found() -> None:
    assert funnel_faults([sample("agents/x.py", 'funnel.record(action="sign_in", actor=a)')])
    assert (
        funnel_faults([sample("agents/x.py", "funnel.record(action=Action.SIGN_IN, reason=None)")])
        == []
    )
