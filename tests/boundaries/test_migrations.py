"""The schema is what the models say, and every step of it can be taken back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connections, migrations
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.boundaries.source import PACKAGES

SCHEMA = "kaizen_reversal"


def ours() -> list[str]:
    return [
        config.label for config in apps.get_app_configs() if config.name.split(".")[0] in PACKAGES
    ]


def irreversible(operations: list[Operation]) -> list[Operation]:
    return [operation for operation in operations if not operation.reversible]


@pytest.fixture
def empty_schema(committed_db: None) -> Iterator[str]:
    """A connection of the owner's to an empty schema of the test database; gone afterwards."""
    alias = "reversal"
    owner = connections["owner"].settings_dict
    options = {**owner["OPTIONS"], "options": f"-c search_path={SCHEMA}"}
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}")
    connections.databases[alias] = {**owner, "OPTIONS": options}
    yield alias
    connections[alias].close()
    del connections[alias], connections.databases[alias]
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    connections["owner"].close()


def tables(alias: str) -> set[str]:
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return {name for (name,) in cursor.fetchall()}


def leftovers(alias: str) -> list[Any]:
    """Functions that outlive their tables."""
    with connections[alias].cursor() as cursor:
        cursor.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        )
        return cursor.fetchall()


def test_models_and_migrations_agree() -> None:
    loader = MigrationLoader(None)
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    changes = detector.changes(graph=loader.graph)
    assert {label: found for label, found in changes.items() if label in ours()} == {}


def test_every_operation_can_be_taken_back() -> None:
    loader = MigrationLoader(None)
    for (label, name), migration in loader.disk_migrations.items():
        if label in ours():
            assert irreversible(migration.operations) == [], f"{label} {name}"


def test_an_operation_without_a_way_back_is_found() -> None:
    assert irreversible([migrations.RunPython(lambda apps, editor: None)])
    assert irreversible([migrations.RunSQL("SELECT 1")])
    assert irreversible([migrations.RunSQL("SELECT 1", migrations.RunSQL.noop)]) == []


def test_the_schema_goes_up_down_and_up_again(empty_schema: str) -> None:
    call_command("migrate", database=empty_schema, verbosity=0)
    full = tables(empty_schema)
    assert {"audit_event", "journal_entry"} <= full
    for label in reversed(ours()):
        if apps.get_app_config(label).models:
            call_command("migrate", label, "zero", database=empty_schema, verbosity=0)
    left = tables(empty_schema)
    owned = {
        model._meta.db_table
        for label in ours()
        for model in apps.get_app_config(label).get_models()
    }
    assert left & owned == set()
    assert leftovers(empty_schema) == []
    call_command("migrate", database=empty_schema, verbosity=0)
    assert tables(empty_schema) == full
