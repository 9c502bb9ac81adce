"""What the runtime role may do: work on rows, own nothing, change no append-only table.

Runs after every `migrate` as the owner. The list of append-only tables is not kept here: the
triggers that `audit.append_only` made are read from the catalogue, so a table cannot refuse
change and still be writable on paper.
"""

from typing import Any

from django.conf import settings
from django.db import connections, transaction

from audit.append_only import BULK_TRIGGER, ROW_TRIGGER

# Privileges the runtime role does not get on single tables, beside the append-only ones.
WITHHELD = {
    "django_migrations": "INSERT, UPDATE, DELETE",  # what was migrated is the owner's word
    "audit_chain_head": "INSERT, DELETE",  # heads move, but none is added or taken away
}

APPEND_ONLY_TABLES = """
SELECT c.relname, array_remove(string_to_array(encode(row_trigger.tgargs, 'escape'), '\\000'), '')
  FROM pg_class c
  JOIN pg_trigger bulk_trigger ON bulk_trigger.tgrelid = c.oid AND bulk_trigger.tgname = %s
  JOIN pg_trigger row_trigger ON row_trigger.tgrelid = c.oid AND row_trigger.tgname = %s
 WHERE c.relnamespace = current_schema()::regnamespace
 ORDER BY c.relname
"""


def after_migrate(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: renew the runtime role's privileges when the owner has migrated.

    Does nothing where one role does everything (only one database URL given); `doctor` says so to
    the operator.
    """
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT current_user")
        (current_user,) = cursor.fetchone()
    if current_user != settings.RUNTIME_ROLE:
        apply(role=settings.RUNTIME_ROLE, using=using)


def apply(*, role: str, using: str) -> None:
    """Give `role` exactly the privileges it needs on the current schema, in one transaction.

    Raises `django.db.ProgrammingError` when the role does not exist or the caller does not own
    the tables.
    """
    connection = connections[using]
    quote = connection.ops.quote_name
    to = quote(role)
    with transaction.atomic(using=using), connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        schema = quote(cursor.fetchone()[0])
        for statement in (
            f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {to}",
            f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM {to}",
            f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC",
            f"GRANT USAGE ON SCHEMA {schema} TO {to}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {to}",
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {to}",
        ):
            cursor.execute(statement)
        for table, privileges in WITHHELD.items():
            if table in connection.introspection.table_names(cursor):
                cursor.execute(f"REVOKE {privileges} ON {quote(table)} FROM {to}")
        cursor.execute(APPEND_ONLY_TABLES, [BULK_TRIGGER, ROW_TRIGGER])
        for table, columns in cursor.fetchall():
            cursor.execute(f"REVOKE UPDATE, DELETE ON {quote(table)} FROM {to}")
            if columns:
                named = ", ".join(quote(column) for column in columns)
                cursor.execute(f"GRANT UPDATE ({named}) ON {quote(table)} TO {to}")
