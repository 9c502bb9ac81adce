"""A migration operation that makes a table refuse change, whoever asks.

Privileges alone are not enough: foreign-key actions run as the table's owner and would delete or
blank rows that the runtime role may not touch, and TRUNCATE passes by row triggers. So a table
gets both kinds of trigger. They are always-enabled, so a session that pretends to be a replica
meets them too. The owner can still drop them; that is what the hash chains and the anchors
outside the database are for.

`audit.grants` reads these triggers from the catalogue and takes the matching privileges from the
runtime role.
"""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation

ROW_TRIGGER = "refuse_row_change"
BULK_TRIGGER = "refuse_bulk_change"

# Arguments of the row trigger are the columns that may change; all others must stay as they were.
FUNCTION = """
CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $body$
BEGIN
    IF TG_LEVEL = 'ROW' AND TG_OP = 'UPDATE' AND TG_NARGS > 0
       AND to_jsonb(NEW) - TG_ARGV = to_jsonb(OLD) - TG_ARGV THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'table % is append-only, % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END
$body$
"""


class RefuseChange(Operation):
    """Refuse UPDATE, DELETE and TRUNCATE on `table` from now on; reversing takes the refusal away
    again.

    `allow_update_of` names columns that may still be updated (a `retired_at`, say); an update
    that changes any other column is refused as a whole. A refused statement raises
    `django.db.IntegrityError` and ends its transaction.
    """

    reversible = True
    reduces_to_sql = True

    def __init__(self, table: str, allow_update_of: Sequence[str] = ()) -> None:
        self.table = table
        self.allow_update_of = list(allow_update_of)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        kwargs = {"allow_update_of": self.allow_update_of} if self.allow_update_of else {}
        return self.__class__.__name__, [self.table], kwargs

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Triggers are no part of the model state."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: Any,
        to_state: Any,
    ) -> None:
        table, function = self._names(schema_editor)
        columns = ", ".join(schema_editor.quote_value(name) for name in self.allow_update_of)
        bulk = "DELETE OR TRUNCATE" if self.allow_update_of else "UPDATE OR DELETE OR TRUNCATE"
        for statement in (
            FUNCTION.format(function=function),
            f"CREATE TRIGGER {ROW_TRIGGER} BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {function}({columns})",
            f"CREATE TRIGGER {BULK_TRIGGER} BEFORE {bulk} ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {function}()",
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {ROW_TRIGGER}",
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {BULK_TRIGGER}",
        ):
            schema_editor.execute(statement, params=None)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: Any,
        to_state: Any,
    ) -> None:
        table, function = self._names(schema_editor)
        for statement in (
            f"DROP TRIGGER {BULK_TRIGGER} ON {table}",
            f"DROP TRIGGER {ROW_TRIGGER} ON {table}",
            f"DROP FUNCTION {function}()",
        ):
            schema_editor.execute(statement, params=None)

    def _names(self, schema_editor: BaseDatabaseSchemaEditor) -> tuple[str, str]:
        quote = schema_editor.quote_name
        return quote(self.table), quote(f"refuse_change_{self.table}")

    def describe(self) -> str:
        return f"Refuse change of rows in {self.table}"

    @property
    def migration_name_fragment(self) -> str:
        return f"{self.table}_append_only"
