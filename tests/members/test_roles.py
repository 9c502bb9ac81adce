"""Roles are groups that hold exactly what the table says."""

import pytest
from django.contrib.auth.models import Group, Permission

from agents.members import accounts, roles
from agents.members.models import Member
from audit.models import AuditEvent

pytestmark = pytest.mark.django_db


def held_by(role: str) -> list[str]:
    found = Group.objects.get(name=role).permissions.values_list(
        "content_type__app_label", "codename"
    )
    return sorted(f"{label}.{codename}" for label, codename in found)


@pytest.mark.parametrize("role", list(roles.PERMISSIONS))
def test_a_role_holds_exactly_its_row_of_the_table(role: str) -> None:
    assert held_by(role) == sorted(roles.PERMISSIONS[role])


def test_there_are_three_roles() -> None:
    assert set(roles.PERMISSIONS) == {"member", "operator", "administrator"}
    assert roles.PERMISSIONS[roles.MEMBER] == ()


def test_reconciling_takes_away_what_was_added_and_gives_back_what_was_taken() -> None:
    group = Group.objects.get(name=roles.OPERATOR)
    group.permissions.set(Permission.objects.filter(codename="delete_member"))
    for _ in range(2):
        accounts.reconcile_roles()
        assert held_by(roles.OPERATOR) == sorted(roles.PERMISSIONS[roles.OPERATOR])


def test_no_role_may_delete_anything_or_change_what_is_append_only() -> None:
    given = {name for permissions in roles.PERMISSIONS.values() for name in permissions}
    assert [name for name in given if ".delete_" in name] == []
    assert [name for name in given if name.startswith("audit.") and ".view_" not in name] == []
    assert [name for name in given if "conversation" in name or "journal" in name] == []


def test_assigning_moves_a_person_into_exactly_one_role(alice: Member) -> None:
    friends = Group.objects.create(name="friends")
    alice.groups.add(friends)
    accounts.assign(actor="system:tests", member=alice, role=roles.ADMINISTRATOR)
    assert names(alice) == {"administrator", "friends"}
    assert (alice.is_staff, accounts.is_administrator(alice)) == (True, True)
    accounts.assign(actor="system:tests", member=alice, role=roles.MEMBER)
    assert names(alice) == {"member", "friends"}
    assert (alice.is_staff, accounts.is_administrator(alice)) == (False, False)


def test_the_superuser_flag_alone_makes_nobody_an_administrator(alice: Member) -> None:
    Member.objects.filter(pk=alice.pk).update(is_superuser=True)
    assert not accounts.is_administrator(Member.objects.get(pk=alice.pk))


def test_an_inactive_administrator_is_none(ada: Member) -> None:
    assert accounts.is_administrator(ada)
    ada.is_active = False
    assert not accounts.is_administrator(ada)


def test_every_assignment_is_recorded_once(alice: Member, ada: Member) -> None:
    before = set(AuditEvent.objects.values_list("id", flat=True))
    accounts.assign(actor=ada.principal, member=alice, role=roles.OPERATOR)
    (row,) = AuditEvent.objects.exclude(id__in=before)
    assert (row.action, row.actor, row.subject_id, row.details) == (
        "member_changed",
        ada.principal,
        str(alice.pk),
        {"role": "operator"},
    )


def test_a_role_outside_the_table_is_refused_and_nothing_changes(alice: Member) -> None:
    with pytest.raises(Group.DoesNotExist):
        accounts.assign(actor="system:tests", member=alice, role="emperor")
    assert names(alice) == {"member"}


def names(member: Member) -> set[str]:
    return set(member.groups.values_list("name", flat=True))
