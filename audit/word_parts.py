"""Indexes that find a part of a word in short texts, for migrations."""

from typing import Final

from django.db.migrations.operations import RunSQL

# `pg_trgm` ships with PostgreSQL, and the owner of a database may add it. Where it is missing or
# not allowed there is no index: searching is then slower and finds the same.
CREATE: Final = """
DO $$
DECLARE
    place text;
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    SELECT quote_ident(nspname) INTO place FROM pg_extension
      JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
    EXECUTE 'CREATE INDEX {name} ON {table} USING gin (UPPER({column}::text) ' || place
         || '.gin_trgm_ops)';
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
    RAISE NOTICE 'pg_trgm is not available: {name} is left out';
END
$$
"""


def part_of_word_index(*, table: str, column: str, name: str) -> RunSQL:
    """An index for `icontains` on one column. Undoing leaves the extension: others may use it."""
    return RunSQL(
        CREATE.format(table=table, column=column, name=name),
        f"DROP INDEX IF EXISTS {name}",
    )
