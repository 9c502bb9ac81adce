"""`manage.py roles`: print what each role may do, as docs/roles.md holds it."""

from typing import Any, Final

from django.apps import apps
from django.core.management.base import BaseCommand

from agents.members import roles

VERBS: Final = {"view": "look", "add": "add", "change": "change", "delete": "delete"}
HEAD: Final = """\
# Roles

Printed by `manage.py roles`; the table in `agents/members/roles.py` decides. A role is a group,
every person is in exactly one, and `migrate` brings the groups in line with the table.

## In the administration

| what | administrator | operator | member |
|---|---|---|---|
"""
TAIL: Final = """
Groups, agents, versions, model calls and the audit are only looked at there, but for one decision:
an administrator opens an agent to everyone or takes it back, shipped agents included. People are
switched off, never deleted; nobody changes their own role. A superuser made by `createsuperuser`
may do everything in the administration and nothing more than a member anywhere else.

## Everywhere else

Pages, REST, event streams and sockets ask the same questions, whatever the role; what somebody
may not see looks missing (404), and 403 is said only to people who see a thing but may not do
this to it.

| what | who |
|---|---|
| conversations, inputs, events, stop, steer | their owner |
| calls that wait for an approval: read, decide, take back | the member who is asked |
| agents: use | their owner, people with a share, everybody for published agents |
| agents: read definition and versions | who may copy or edit; everybody for published bundles |
| agents: append, restore, roll back | their owner, people who may edit; nobody for bundled ones |
| agents: copy | their owner, people with a share that says so, everybody for published bundles |
| agents: share | their owner, with people and with groups of their own; nobody for bundled agents |
| agents: open to everybody | administrators; their owner may take it back |
| agents: delete | their owner; nobody for bundled agents |
| artifacts: read, compare, download | their owner, people with a share |
| artifacts: write a version, edit, restore | their owner, people who may edit |
| artifacts: delete | their owner |
| access tokens | their owner |
| which model plays which role | administrators, with a session or a token of scope `admin` |
| `/metrics` | whoever holds the token, or this machine itself |
"""


class Command(BaseCommand):
    """Prints the page; `manage.py roles > docs/roles.md` renews it."""

    help = "Print what each role may do."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(page(), ending="")


def page() -> str:
    """The whole page as Markdown."""
    order = (roles.ADMINISTRATOR, roles.OPERATOR, roles.MEMBER)
    held = {role: _by_model(roles.PERMISSIONS[role]) for role in order}
    named = {model for by_model in held.values() for model in by_model}
    lines = []
    for model in sorted(named, key=_name):
        cells = [", ".join(held[role].get(model, [])) or "—" for role in order]
        lines.append(f"| {_name(model)} | {' | '.join(cells)} |\n")
    return HEAD + "".join(lines) + TAIL


def _by_model(permissions: tuple[str, ...]) -> dict[tuple[str, str], list[str]]:
    """Verbs by (application, model)."""
    found: dict[tuple[str, str], list[str]] = {}
    for permission in permissions:
        app_label, codename = permission.split(".")
        verb, model = codename.split("_", 1)
        found.setdefault((app_label, model), []).append(VERBS[verb])
    return {model: sorted(verbs, key=list(VERBS.values()).index) for model, verbs in found.items()}


def _name(model: tuple[str, str]) -> str:
    return str(apps.get_model(*model)._meta.verbose_name_plural)
