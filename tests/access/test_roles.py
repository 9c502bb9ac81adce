"""The documented table of roles is the one that holds."""

from pathlib import Path

import pytest
from django.contrib.auth.models import Group, Permission

from agents.members import roles
from kaizen.management.commands.roles import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "roles.md"


def test_the_page_says_what_the_table_says() -> None:
    assert PAGE.read_text() == page(), "run: manage.py roles > docs/roles.md"


@pytest.mark.django_db
@pytest.mark.parametrize("role", sorted(roles.PERMISSIONS))
def test_each_group_holds_exactly_its_permissions(role: str) -> None:
    held = Group.objects.get(name=role).permissions.values_list(
        "content_type__app_label", "codename"
    )
    assert sorted(f"{app}.{codename}" for app, codename in held) == sorted(roles.PERMISSIONS[role])


@pytest.mark.django_db
def test_no_role_may_delete_anything() -> None:
    named = {permission for held in roles.PERMISSIONS.values() for permission in held}
    assert not {permission for permission in named if ".delete_" in permission}
    known = {
        f"{app}.{codename}"
        for app, codename in Permission.objects.values_list("content_type__app_label", "codename")
    }
    assert named <= known
