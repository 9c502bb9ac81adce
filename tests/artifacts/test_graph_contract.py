"""The graph contract: what is refused, and what comes back with it."""

import json
from typing import Any

import pytest

from agents.members.models import Member
from artifacts import writing
from artifacts.kinds import graph
from artifacts.kinds.content import BrokenContract
from artifacts.models import Artifact
from artifacts.writing import Draft


def document(**changes: Any) -> dict[str, Any]:
    """A small right graph, with parts replaced."""
    right = {
        "schema_version": 1,
        "title": "Teams",
        "status": "draft",
        "scope": "one office",
        "nodes": [
            {"id": "a", "label": "Ada", "type": "person", "source_ids": ["s1"]},
            {"id": "b", "label": "Bob", "type": "person"},
        ],
        "edges": [
            {"id": "e1", "source": "a", "target": "b", "label": "leads", "type": "reports"},
            {"id": "e2", "source": "b", "target": "a", "label": "helps", "source_ids": ["s1"]},
        ],
        "sources": [
            {
                "id": "s1",
                "title": "Chart",
                "source": "wiki",
                "excerpt": "…",
                "target_path": "/chart",
            }
        ],
    }
    return {key: value for key, value in {**right, **changes}.items() if value is not None}


def found(**changes: Any) -> list[str]:
    return graph.problems(json.dumps(document(**changes)))


def test_a_right_graph_passes_with_and_without_optional_parts() -> None:
    assert found() == []
    assert found(title=None, status=None, scope=None) == []
    bare = {"schema_version": 1, "nodes": [], "edges": []}
    assert graph.problems(json.dumps(bare)) == []


@pytest.mark.req("ART-010")
def test_the_root_has_its_required_keys_and_no_others() -> None:
    assert found(schema_version=2) == ["graph.schema_version must be 1"]
    assert found(schema_version=True) == ["graph.schema_version must be 1"]
    assert found(nodes=None) == ["graph lacks nodes"]
    assert found(edges=None) == ["graph lacks edges"]
    assert found(layout="grid") == ["graph has the unknown key layout"]
    assert found(nodes={}) == ["graph.nodes must be a list"]
    assert graph.problems("[]") == ["graph must be an object"]


@pytest.mark.req("ART-011", "ART-012", "ART-013")
@pytest.mark.parametrize(
    ("part", "lacking"),
    [
        ("nodes", "id"),
        ("nodes", "label"),
        ("nodes", "type"),
        ("edges", "id"),
        ("edges", "source"),
        ("edges", "target"),
        ("edges", "label"),
        ("sources", "id"),
    ],
)
def test_every_part_needs_its_keys(part: str, lacking: str) -> None:
    items = document()[part]
    del items[0][lacking]
    assert f"graph.{part}[0] lacks {lacking}" in found(**{part: items})


@pytest.mark.req("ART-014")
def test_references_must_name_what_is_there() -> None:
    assert found(nodes=document()["nodes"][:1]) == [
        "graph.edges[0].target names no node: b",
        "graph.edges[1].source names no node: b",
    ]
    assert found(sources=[]) == [
        "graph.nodes[0].source_ids names no source: s1",
        "graph.edges[1].source_ids names no source: s1",
    ]
    twice = document()["nodes"] + [{"id": "a", "label": "Again", "type": "person"}]
    assert found(nodes=twice) == ["nodes has the id a more than once"]


@pytest.mark.req("ART-015")
@pytest.mark.parametrize("name", ["node_type", "relation_type", "source_id", "url", "evidence"])
def test_names_that_look_almost_right_are_refused(name: str) -> None:
    for part in ("nodes", "edges", "sources"):
        items = document()[part]
        items[0][name] = "x"
        assert found(**{part: items}) == [
            f"graph.{part}[0] uses {name}, which is not a name of this contract"
        ]


@pytest.mark.req("ART-016")
def test_a_rejection_carries_the_whole_contract_and_writes_nothing(db: None, alice: Member) -> None:
    for content in ("not json", '{"schema_version": 1}', json.dumps(document(url="x"))):
        with pytest.raises(BrokenContract) as refused:
            writing.create(actor=alice, draft=Draft("G", "graph", content))
        assert refused.value.expected_schema == graph.EXPECTED_SCHEMA
        assert refused.value.found
    assert not Artifact.objects.visible_to(alice).exists()
    made = writing.create(actor=alice, draft=Draft("G", "graph", json.dumps(document())))
    with pytest.raises(BrokenContract):
        writing.update(actor=alice, artifact_id=made.artifact.id, content="{}", expected_version=1)


def test_what_people_are_told_of_many_problems_is_bounded(db: None, alice: Member) -> None:
    content = json.dumps(document(nodes=[{"id": f"{n}"} for n in range(30)]))
    with pytest.raises(BrokenContract) as refused:
        writing.create(actor=alice, draft=Draft("G", "graph", content))
    assert len(refused.value.found) == 20
    assert len(refused.value.message) < 500
    assert refused.value.message.endswith(" more.")


def test_a_refused_document_is_told_in_one_sentence(db: None, alice: Member) -> None:
    with pytest.raises(BrokenContract) as refused:
        writing.create(actor=alice, draft=Draft("G", "graph", "{"))
    assert refused.value.message.endswith("(line 1, column 2).")


def test_hostile_documents_are_refused_with_bounded_words() -> None:
    for content in (
        "[" * 5_000,
        '{"schema_version": 1, "schema_version": 1, "nodes": [], "edges": []}',
        '{"schema_version": NaN}',
        json.dumps({"x" * 5_000: 1, "schema_version": 1, "nodes": [], "edges": []}),
        json.dumps(document(nodes=[{"k" * 50: n} for n in range(500)])),
        json.dumps(document(nodes=[{"id": "n", "label": "l", "type": "t"}] * 2_001)),
    ):
        problems = graph.problems(content)
        assert 1 <= len(problems) <= 20
        assert all(len(problem) < 200 for problem in problems)
