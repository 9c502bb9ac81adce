"""Full-text search over what people asked and agents answered."""

from django.db import migrations

# The expression is repeated word for word by `agents.conversations.search`, or PostgreSQL would
# not use the index. `left` keeps the vector of a very long answer within what PostgreSQL can
# hold, so that no answer can fail to be journaled because of the index.
CREATE = """
CREATE INDEX entries_by_words ON journal_entry USING gin (
    to_tsvector('simple'::regconfig,
                left(COALESCE(data->>'message', data->>'text', ''), 100000)))
 WHERE kind IN ('input_accepted', 'assistant_message')
"""


class Migration(migrations.Migration):
    dependencies = [("journal", "0001_initial")]

    operations = [migrations.RunSQL(CREATE, "DROP INDEX entries_by_words")]
