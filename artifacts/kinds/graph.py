"""The graph contract: one JSON document of nodes, edges and the sources they rest on.

Names that look almost right are refused and never mapped: a silent guess would change meaning.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from audit import canonical
from audit.limits import limit
from audit.refusals import Refusal

GRAPH_BYTES = limit(
    "artifact.graph", 400_000, "bytes", "Size of a graph artifact's document as UTF-8."
)
GRAPH_ITEMS = limit(
    "artifact.graph_items", 2_000, "count", "Nodes, edges or sources of one graph, each."
)
MAX_PROBLEMS: Final = 20
SCHEMA_VERSION: Final = 1
REFUSED_NAMES: Final = frozenset({"node_type", "relation_type", "source_id", "url", "evidence"})

_ID: Final = {"type": "string", "minLength": 1, "maxLength": 200}
_TEXT: Final = {"type": "string", "maxLength": 1_000}
_SOURCE_IDS: Final = {"type": "array", "items": _ID}

# What a model is sent back with a rejection: the whole contract, readable on its own.
EXPECTED_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["schema_version", "nodes", "edges"],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": SCHEMA_VERSION},
        "title": _TEXT,
        "status": _TEXT,
        "scope": _TEXT,
        "nodes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "label", "type"],
                "additionalProperties": False,
                "properties": {"id": _ID, "label": _TEXT, "type": _TEXT, "source_ids": _SOURCE_IDS},
            },
        },
        "edges": {
            "type": "array",
            "description": "source and target are ids of nodes",
            "items": {
                "type": "object",
                "required": ["id", "source", "target", "label"],
                "additionalProperties": False,
                "properties": {
                    "id": _ID,
                    "source": _ID,
                    "target": _ID,
                    "label": _TEXT,
                    "type": _TEXT,
                    "source_ids": _SOURCE_IDS,
                },
            },
        },
        "sources": {
            "type": "array",
            "description": "what source_ids of nodes and edges refer to",
            "items": {
                "type": "object",
                "required": ["id"],
                "additionalProperties": False,
                "properties": {
                    "id": _ID,
                    "title": _TEXT,
                    "source": _TEXT,
                    "excerpt": {"type": "string", "maxLength": 4_000},
                    "target_path": _TEXT,
                },
            },
        },
    },
}


def problems(content: str) -> list[str]:
    """What keeps a text from being a graph, at most 20 sentences; empty when it is one."""
    try:
        document = canonical.parse(content.encode(), limit_bytes=GRAPH_BYTES)
    except Refusal as refusal:
        return [refusal.message]
    check = _Check()
    check.value("graph", document, EXPECTED_SCHEMA)
    if not check.found:
        check.found.extend(_broken_references(document))
    return check.found[:MAX_PROBLEMS]


@dataclass
class _Check:
    """Walks a document beside its contract and collects what differs."""

    found: list[str] = field(default_factory=list)

    def value(self, path: str, value: Any, contract: dict[str, Any]) -> None:
        if len(self.found) >= MAX_PROBLEMS:
            return
        if "const" in contract:
            if value != contract["const"] or isinstance(value, bool):
                self.found.append(f"{path} must be {contract['const']}")
        elif contract["type"] == "string":
            self.text(path, value, contract)
        elif contract["type"] == "array":
            self.items(path, value, contract)
        else:
            self.keys(path, value, contract)

    def text(self, path: str, value: Any, contract: dict[str, Any]) -> None:
        shortest, longest = contract.get("minLength", 0), contract["maxLength"]
        if not isinstance(value, str):
            self.found.append(f"{path} must be a text")
        elif not shortest <= len(value) <= longest:
            self.found.append(f"{path} must have {shortest} to {longest:,} characters")

    def items(self, path: str, value: Any, contract: dict[str, Any]) -> None:
        if not isinstance(value, list):
            self.found.append(f"{path} must be a list")
        elif len(value) > GRAPH_ITEMS:
            self.found.append(f"{path} has more than {GRAPH_ITEMS:,} entries")
        else:
            for index, item in enumerate(value):
                self.value(f"{path}[{index}]", item, contract["items"])

    def keys(self, path: str, value: Any, contract: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            self.found.append(f"{path} must be an object")
            return
        known = contract["properties"]
        for name in contract["required"]:
            if name not in value:
                self.found.append(f"{path} lacks {name}")
        for name in value:
            if name in known:
                self.value(f"{path}.{name}", value[name], known[name])
            elif name in REFUSED_NAMES:
                self.found.append(f"{path} uses {name}, which is not a name of this contract")
            else:
                self.found.append(f"{path} has the unknown key {name:.60}")


def _broken_references(document: dict[str, Any]) -> Iterator[str]:
    for name in ("nodes", "edges", "sources"):
        counts = Counter(item["id"] for item in document.get(name, []))
        for repeated in (key for key, count in counts.items() if count > 1):
            yield f"{name} has the id {repeated:.60} more than once"
    nodes = {node["id"] for node in document["nodes"]}
    sources = {source["id"] for source in document.get("sources", [])}
    for index, edge in enumerate(document["edges"]):
        for end in ("source", "target"):
            if edge[end] not in nodes:
                yield f"graph.edges[{index}].{end} names no node: {edge[end]:.60}"
    for name in ("nodes", "edges"):
        for index, item in enumerate(document[name]):
            for missing in set(item.get("source_ids", [])) - sources:
                yield f"graph.{name}[{index}].source_ids names no source: {missing:.60}"
