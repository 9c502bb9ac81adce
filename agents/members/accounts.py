"""Accounts and their roles."""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

from agents.members import roles
from agents.members.models import Member
from audit import funnel
from audit.reasons import Action


def create(
    *, actor: str, username: str, password: str, role: str, display_name: str = ""
) -> Member:
    """A new person in one role; audited. The password is stored hashed."""
    with transaction.atomic():
        member = Member.objects.create_user(
            username=username, password=password, display_name=display_name
        )
        assign(actor=actor, member=member, role=role)
        return member


def assign(*, actor: str, member: Member, role: str) -> None:
    """Put a person into exactly one role; the admin site opens for staff roles only."""
    with transaction.atomic():
        groups = Group.objects.filter(name__in=roles.PERMISSIONS)
        member.groups.remove(*groups.exclude(name=role))
        member.groups.add(groups.get(name=role))
        member.is_staff = role in roles.STAFF
        member.save(update_fields=["is_staff"])
        funnel.record(
            action=Action.MEMBER_CHANGED,
            actor=actor,
            outcome="success",
            subject=("member", str(member.pk)),
            details={"role": role},
        )


def set_password(*, actor: str, member: Member, password: str) -> None:
    """Give a person another password; every session opened with the old one ends."""
    with transaction.atomic():
        member.set_password(password)
        member.save(update_fields=["password"])
        funnel.record(
            action=Action.PASSWORD_CHANGED,
            actor=actor,
            outcome="success",
            subject=("member", str(member.pk)),
        )


def change(*, actor: str, member: Member, display_name: str, is_active: bool) -> None:
    """Rename a person, or switch the account off (sessions and tokens stop counting) or on."""
    with transaction.atomic():
        member.display_name, member.is_active = display_name, is_active
        member.save(update_fields=["display_name", "is_active"])
        funnel.record(
            action=Action.MEMBER_CHANGED,
            actor=actor,
            outcome="success",
            subject=("member", str(member.pk)),
            details={"active": is_active},
        )


def role_of(member: Member) -> str | None:
    """The one role a person holds, or None for a break-glass account."""
    held: str | None = (
        member.groups.filter(name__in=roles.PERMISSIONS).values_list("name", flat=True).first()
    )
    return held


def is_administrator(member: Member) -> bool:
    """Whether a person holds the administrator role now; superuser alone does not count."""
    return member.is_active and member.groups.filter(name=roles.ADMINISTRATOR).exists()


def reconcile_roles(using: str = "default", **_signal: Any) -> None:
    """Make the three groups hold exactly the permissions of the table. Safe to repeat."""
    if not apps.is_installed("django.contrib.auth"):
        return
    for name, permissions in roles.PERMISSIONS.items():
        group, _ = Group.objects.using(using).get_or_create(name=name)
        wanted = Q(pk__in=[])
        for permission in permissions:
            app_label, codename = permission.split(".")
            wanted |= Q(content_type__app_label=app_label, codename=codename)
        group.permissions.set(Permission.objects.using(using).filter(wanted))
