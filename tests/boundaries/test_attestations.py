"""Renderable content has one maker: what attests, what names its language, what reads it."""

import ast
from collections.abc import Iterable

import pytest

from artifacts.renderable.attestation import LANGUAGE
from tests.boundaries.source import ROOT, Source, called, runtime_sources, sample, strings

MAKER = "artifacts/outputs.py"
DECLARES = "artifacts/renderable/attestation.py"
BROWSER = ROOT / "templates/static/ts"


def makers(sources: Iterable[Source]) -> set[str]:
    """The files that make an attestation or hand one to the writer."""
    return {
        source.path
        for source in sources
        if source.path != DECLARES
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and (
            called(node).split(".")[-2:] in (["Attestation"], ["Attestation", "of"])
            or any(keyword.arg == "attestation" for keyword in node.keywords)
        )
    }


def namers(sources: Iterable[Source]) -> set[str]:
    """The files that write the reserved language out."""
    return {
        source.path
        for source in sources
        if not source.is_migration
        for node in strings(source)
        if LANGUAGE in node.value
    }


@pytest.mark.req("REN-018", "REN-014")
def test_one_module_attests_and_one_names_the_language() -> None:
    assert makers(runtime_sources()) == {MAKER}
    assert namers(runtime_sources()) == {DECLARES}


@pytest.mark.parametrize(
    "text",
    ["Attestation(a, b, c)", "x.Attestation.of(a, b, c)", "RunWrite(a, attestation=given)"],
)
def test_a_second_maker_is_found(text: str) -> None:
    assert makers([sample("tools/builtin/x.py", text)])
    assert namers([sample("tools/builtin/x.py", f"x = '{LANGUAGE}'")])


@pytest.mark.req("REN-010")
def test_nothing_resolves_a_reference() -> None:
    """A reference is checked, kept and shown: no other code of ours may even name it."""
    naming = {source.path for source in runtime_sources() if "result_ref" in source.text}
    assert naming == {"artifacts/renderers/view.py", "agents/api/renderables.py"}
    for script in BROWSER.glob("*.ts"):
        text = script.read_text(encoding="utf-8")
        if ".result_ref" in text:
            assert not any(way in text for way in ("fetch(", "href", "src:", "import(")), script
