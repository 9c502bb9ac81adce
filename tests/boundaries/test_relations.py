"""Foreign keys point down; the only one that may point up is the person."""

import ast
import configparser
from collections.abc import Iterable, Iterator

import pytest

from tests.boundaries.source import ROOT, Source, runtime_sources, sample, within
from tests.boundaries.test_layout import assigned, configurations

RELATIONS = {"ForeignKey", "OneToOneField", "ManyToManyField"}


def ranks() -> dict[str, int]:
    """Package to height, from the import contracts: first the inside of agents, then the house."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    inside = [f"agents.{name}" for line in layers(contracts, "agents") for name in line]
    order: list[str] = []
    for line in layers(contracts, "house"):
        order += [part for name in line for part in (inside if name == "agents" else [name])]
    return {name: len(order) - place for place, name in enumerate(order)}


def layers(contracts: configparser.ConfigParser, name: str) -> Iterator[list[str]]:
    for line in contracts[f"importlinter:contract:{name}"]["layers"].splitlines():
        if line.strip() and not line.startswith("#"):
            yield [part.strip(" ()") for part in line.split("|")]


def labels(sources: Iterable[Source]) -> dict[str, str]:
    """Label of an application to its package."""
    return {
        label: source.app
        for source in sources
        if source.path.endswith("/apps.py")
        for node in configurations(source)
        if (label := assigned(node, "label"))
    }


def upward_faults(sources: Iterable[Source], houses: dict[str, str]) -> list[str]:
    """Relations given as `label.Model` whose package lies above the model's own."""
    height = ranks()
    faults = []
    for source in sources:
        for node in relations(source):
            target = node.args[0] if node.args else None
            if not (isinstance(target, ast.Constant) and "." in str(target.value)):
                continue
            house = houses.get(str(target.value).split(".")[0], "")
            if within(house, *height) and height[house] > height.get(source.app, 0):
                faults.append(source.at(node, f"points up at {target.value}"))
    return faults


def relations(source: Source) -> Iterator[ast.Call]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in RELATIONS:
            yield node


def ground_faults(sources: Iterable[Source]) -> list[str]:
    """The audit has no foreign key at all."""
    return [
        source.at(node, "relates the audit to something")
        for source in sources
        if source.app == "audit"
        for node in relations(source)
    ]


def test_foreign_keys_point_down() -> None:
    models = [source for source in runtime_sources() if source.path.endswith("models.py")]
    houses = labels(runtime_sources())
    assert {"members", "journal", "definitions", "conversations", "turns"} <= set(houses)
    assert sum(1 for source in models for _ in relations(source)) >= 10
    assert upward_faults(models, houses) == []
    assert ground_faults(models) == []


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("artifacts/models.py", "conversations.Conversation"),
        ("agents/journal/models.py", "conversations.Conversation"),
        ("tools/effects/models.py", "turns.Turn"),
    ],
)
def test_a_foreign_key_that_points_up_is_found(path: str, target: str) -> None:
    text = (
        f'class A(models.Model):\n    b = models.ForeignKey("{target}", on_delete=models.PROTECT)'
    )
    assert upward_faults([sample(path, text)], labels(runtime_sources()))
    assert upward_faults([sample("agents/turns/models.py", text)], labels(runtime_sources())) == []


def test_a_relation_of_the_audit_is_found() -> None:
    assert ground_faults([sample("audit/models.py", "a = models.ForeignKey(B)")])
