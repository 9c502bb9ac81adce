"""No planted secret passes the log, wherever in a record it stands."""

import io
import logging
import logging.config
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.conf import settings as django_settings

from tests.canaries import CANARIES, KEPT, found_in

# Where a canary without a shape of its own is recognised.
SHAPED = {
    "cookie: a session": "password={}",
    "private key in a result": "-----BEGIN RSA " + "PRIVATE KEY-----\n{}\n",
    "signed URL in an answer": "GET https://files.example/a?X-Amz-Signature={}&b=1",
    "signed URL that is asked for": "GET /api/me?sig={} 200",
}


@pytest.fixture
def written(settings: Any) -> Iterator[io.StringIO]:
    """What the configured handler writes."""
    settings.SECRETS = {"KAIZEN_SECRET_CANARY": KEPT}
    stream = io.StringIO()
    configured = deepcopy(django_settings.LOGGING)
    configured["handlers"]["console"]["stream"] = stream
    logging.config.dictConfig(configured)
    yield stream
    logging.config.dictConfig(django_settings.LOGGING)


@pytest.mark.req("GRD-012")
@pytest.mark.parametrize("place", CANARIES)
def test_a_secret_in_a_message_an_argument_or_an_exception_is_masked(
    written: io.StringIO, place: str
) -> None:
    text = SHAPED.get(place, "see {} here").format(CANARIES[place])
    log = logging.getLogger("agents.canary")
    log.warning("message %s", text)
    log.warning(f"formatted {text}")
    try:
        raise ValueError(text)
    except ValueError:
        log.exception("it failed")
    assert written.getvalue().count("[redacted]") >= 3
    assert "Traceback" in written.getvalue()
    assert found_in(written.getvalue()) == []
