"""Who sees what, and reading by ranges."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission

from agents.members.models import Member
from artifacts import reading, writing
from artifacts.models import (
    Artifact,
    ArtifactGroupObjectPermission,
    ArtifactUserObjectPermission,
    ArtifactVersion,
)
from artifacts.writing import Draft
from audit.refusals import NotFound


def keep(owner: Member, content: str = "text", **draft: str) -> ArtifactVersion:
    values: dict[str, Any] = {"title": "Notes", "kind": "text", "content": content, **draft}
    return writing.create(actor=owner, draft=Draft(**values))


def test_people_see_their_own_and_what_is_shared_with_them_or_their_group(
    db: None, alice: Member, bob: Member, charlie: Member
) -> None:
    direct, by_group, private = (keep(alice).artifact for _ in range(3))
    ArtifactUserObjectPermission.objects.create(
        user=bob,
        content_object=direct,
        permission=Permission.objects.get(codename="view_shared_artifact"),
    )
    room = Group.objects.create(name=f"room-{uuid4()}")
    bob.groups.add(room)
    ArtifactGroupObjectPermission.objects.create(
        group=room,
        content_object=by_group,
        permission=Permission.objects.get(codename="edit_artifact"),
    )
    assert set(reading.visible(alice)) == {direct, by_group, private}
    assert set(reading.visible(bob)) == {direct, by_group}
    assert set(Artifact.objects.editable_by(bob)) == {by_group}
    assert set(Artifact.objects.owned_by(bob)) == set()
    assert set(reading.visible(charlie)) == set()
    seen = ArtifactVersion.objects.visible_to(bob).values_list("artifact_id", flat=True)
    assert set(seen) == {direct.id, by_group.id}

    bob.groups.remove(room)
    assert set(reading.visible(bob)) == {direct}
    bob.is_active = False
    assert set(reading.visible(bob)) == set()


def test_a_superuser_sees_no_more_than_anybody(db: None, alice: Member, bob: Member) -> None:
    made = keep(alice).artifact
    bob.is_superuser = True
    bob.save()
    assert made not in reading.visible(bob)
    with pytest.raises(NotFound):
        reading.version(bob, made.id)


def test_foreign_missing_and_deleted_look_alike(db: None, alice: Member, charlie: Member) -> None:
    made = keep(alice).artifact
    gone = keep(charlie).artifact
    Artifact.objects.filter(id=gone.id).update(deleted_at=datetime.now(UTC))
    words = set()
    for artifact_id in (made.id, uuid4(), gone.id):
        for read in (reading.artifact, reading.version, reading.versions):
            with pytest.raises(NotFound) as refused:
                read(charlie, artifact_id)
            words.add((refused.value.message, refused.value.reason))
    for number in (0, 2):
        with pytest.raises(NotFound):
            reading.version(alice, made.id, number)
    assert len(words) == 1


def test_lists_can_be_narrowed_by_conversation_and_title(db: None, alice: Member) -> None:
    conversation = uuid4()
    here = writing.create(
        actor=alice, draft=Draft("Budget 2027", "text", "x"), conversation_id=conversation
    ).artifact
    keep(alice, title="Something else")
    assert list(reading.visible(alice, conversation_id=conversation)) == [here]
    assert list(reading.visible(alice, text="budget")) == [here]


def test_versions_are_listed_newest_first_without_their_content(
    db: None, alice: Member, django_assert_num_queries: Any
) -> None:
    root = keep(alice).artifact.id
    writing.update(actor=alice, artifact_id=root, content="two", expected_version=1)
    with django_assert_num_queries(2):
        listed = [(one.number, one.tag) for one in reading.versions(alice, root)]
    assert [number for number, _ in listed] == [2, 1]
    assert all(len(tag) == 16 for _, tag in listed)


@pytest.mark.req("ART-002")
def test_a_range_holds_at_most_400_numbered_lines_of_an_exact_version(
    db: None, alice: Member
) -> None:
    version = keep(alice, "".join(f"line {n}\n" for n in range(1, 1_001)))
    first = reading.lines(version, count=9_999)
    assert (first.version, first.tag) == (1, version.digest[7:23])
    assert (first.first, first.last, first.total, first.next_line) == (1, 400, 1_000, 401)
    assert first.text.split("\n")[0] == "1: line 1"
    assert first.text.split("\n")[-1] == "400: line 400"
    end = reading.lines(version, first=999, count=400)
    assert (end.text, end.last, end.next_line) == ("999: line 999\n1000: line 1000", 1_000, None)
    past = reading.lines(version, first=1_001)
    assert (past.text, past.last, past.next_line) == ("", 1_000, None)


def test_ranges_read_one_after_another_give_the_whole_content(db: None, alice: Member) -> None:
    lines = [f"{'漢' * (n % 90)}\t{n}" for n in range(1, 1_200)]
    version = keep(alice, "\n".join(lines))
    read, position = [], 1
    while position:
        taken = reading.lines(version, first=position)
        assert len(taken.text.encode()) <= reading.RANGE_BYTES
        read += [line.split(": ", 1)[1] for line in taken.text.split("\n")]
        position = taken.next_line or 0
    assert read == lines


def test_one_enormous_line_is_cut_and_says_so(db: None, alice: Member) -> None:
    version = keep(alice, "\U0001f600" * 50_000 + "\nlast")
    taken = reading.lines(version)
    assert taken.text.endswith("of 50,000 characters of this line shown]")
    assert (taken.last, taken.next_line) == (1, 2)
    assert reading.lines(version, first=2).text == "2: last"


def test_a_download_is_the_exact_bytes_under_a_safe_name(db: None, alice: Member) -> None:
    version = keep(alice, "print('ü')\r\n", title="../Etc & 'Ünï' ", kind="code", language="python")
    file = reading.download(version)
    assert file.body == "print('ü')\r\n".encode()
    assert file.name == "Etc-Ünï-v1.py"
    assert file.media_type == "application/octet-stream"
    assert reading.download(keep(alice, title="...")).name == "artifact-v1.txt"
