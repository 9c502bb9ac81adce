"""What a preview's response lets a browser do, and where it is served."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core import signing
from django.test import Client

from agents.members.models import Member
from agents.web.previews import PASS_SALT
from artifacts import writing
from artifacts.models import Artifact
from artifacts.writing import Draft

pytestmark = pytest.mark.django_db

FRAME = {"Sec-Fetch-Dest": "iframe"}
ORIGIN = "https://previews.example"
HTML = "<p>hello</p><script>document.title = 1</script>"


def kept(member: Member, content: str = HTML, language: str = "html") -> str:
    """The address of the preview of a new artifact."""
    draft = Draft("Page <b>", "code" if language else "text", content, language)
    return f"/artifacts/{writing.create(actor=member, draft=draft).artifact_id}/versions/1/preview"


def policy(answered: Any) -> list[str]:
    """The rules of an answer's content-security policy."""
    return [rule.strip() for rule in answered["Content-Security-Policy"].split(";")]


def test_html_gets_an_opaque_origin_and_nothing_to_fetch(
    client_of: Callable[[Member], Client], alice: Member
) -> None:
    answered = client_of(alice).get(kept(alice), headers=FRAME)
    assert answered.status_code == 200
    assert answered["Content-Type"] == "text/html; charset=utf-8"
    assert answered.content.decode() == f"<!doctype html>\n{HTML}"
    rules = policy(answered)
    assert rules[0] == "sandbox allow-scripts"
    assert "default-src 'none'" in rules
    assert "frame-ancestors 'self'" in rules
    assert not any("http" in rule or "allow-same-origin" in rule for rule in rules)
    assert answered["X-Content-Type-Options"] == "nosniff"
    assert "X-Frame-Options" not in answered


def test_a_preview_opened_by_itself_runs_no_script(
    client_of: Callable[[Member], Client], alice: Member
) -> None:
    assert policy(client_of(alice).get(kept(alice)))[0] == "sandbox"


def test_a_drawing_is_shown_as_an_image(
    client_of: Callable[[Member], Client], alice: Member
) -> None:
    address = kept(alice, "<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>", "svg")
    answered = client_of(alice).get(address, headers=FRAME)
    text = answered.content.decode()
    assert "onload" not in text
    assert 'src="data:image/svg+xml;base64,' in text
    assert 'alt="Page &lt;b&gt;"' in text
    assert policy(answered)[0] == "sandbox"


def test_anything_else_is_its_text(client_of: Callable[[Member], Client], alice: Member) -> None:
    answered = client_of(alice).get(kept(alice, HTML, ""), headers=FRAME)
    assert answered["Content-Type"] == "text/plain; charset=utf-8"
    assert policy(answered)[0] == "sandbox"


def test_strangers_and_missing_versions_find_nothing(
    client_of: Callable[[Member], Client], alice: Member, charlie: Member
) -> None:
    address = kept(alice)
    owner, stranger = client_of(alice), client_of(charlie)
    answers = [
        stranger.get(address),
        owner.get(address.replace("versions/1/", "versions/2/")),
        owner.get(address.replace("versions/1/", "versions/0/")),
        owner.get(address.replace("versions/1/", f"versions/{'9' * 20}/")),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert {answer.content for answer in answers} == {b"There is no preview."}
    assert Client().get(address).status_code == 302


def test_an_origin_of_its_own_serves_previews_to_holders_of_a_pass(
    client_of: Callable[[Member], Client], alice: Member, settings: Any
) -> None:
    settings.ARTIFACT_ORIGIN = ORIGIN
    settings.PUBLIC_ORIGIN = "https://kaizen.example"
    settings.ALLOWED_HOSTS = ["*"]
    address = kept(alice)
    moved = client_of(alice).get(address)["Location"]
    assert moved.startswith(f"{ORIGIN}{address}?pass=")
    there = Client(SERVER_NAME="previews.example")
    target = moved.removeprefix(ORIGIN)
    answered = there.get(target, headers={**FRAME, "host": "previews.example"})
    assert answered.status_code == 200
    assert "frame-ancestors https://kaizen.example" in policy(answered)
    assert "no-store" in answered["Cache-Control"]


def test_a_pass_opens_one_version_and_only_while_its_holder_may_read(
    alice: Member, settings: Any
) -> None:
    settings.ARTIFACT_ORIGIN = ORIGIN
    settings.ALLOWED_HOSTS = ["*"]
    address, other = kept(alice), kept(alice)
    there = {"host": "previews.example"}
    artifact_id = urlsplit(address).path.split("/")[2]
    claim = {"member": alice.pk, "artifact": artifact_id, "number": 1}
    granted = signing.dumps(claim, salt=PASS_SALT)
    assert Client().get(f"{address}?pass={granted}", headers=there).status_code == 200
    assert Client().get(f"{other}?pass={granted}", headers=there).status_code == 404
    assert Client().get(f"{address}?pass={granted}x", headers=there).status_code == 404
    assert Client().get(address, headers=there).status_code == 404
    Artifact.objects.filter(id=artifact_id).update(deleted_at=alice.date_joined)
    assert Client().get(f"{address}?pass={granted}", headers=there).status_code == 404


def test_nothing_but_previews_is_on_that_origin(settings: Any) -> None:
    settings.ARTIFACT_ORIGIN = ORIGIN
    settings.ALLOWED_HOSTS = ["*"]
    for path in ("/", "/sign-in", "/healthz", "/api/me", "/artifacts"):
        answered = Client().get(path, headers={"host": "previews.example"})
        assert (answered.status_code, answered.content) == (404, b"Only previews are here.")
