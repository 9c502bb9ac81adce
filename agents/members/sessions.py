"""Browser sessions in the database; keys we never made are not looked up."""

import re
from typing import Final

from django.contrib.sessions.backends import db

KEY: Final = re.compile(r"[0-9a-z]{32}")


class SessionStore(db.SessionStore):
    """Django's store, asked only for keys it can have made: a cookie may hold anything, also
    characters that the database does not take.
    """

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key and KEY.fullmatch(key))
