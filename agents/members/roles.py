"""Roles are groups. What each may do is this table, applied by a migration and documented."""

from typing import Final

MEMBER: Final = "member"
OPERATOR: Final = "operator"
ADMINISTRATOR: Final = "administrator"

# Roles that open the administration site.
STAFF: Final = frozenset({ADMINISTRATOR, OPERATOR})

# Model permissions each role holds, as app_label.codename. Members need none: what they may
# see and do with their own rows is decided in querysets.
PERMISSIONS: Final[dict[str, tuple[str, ...]]] = {
    MEMBER: (),
    OPERATOR: (
        "audit.view_anchor",
        "audit.view_auditevent",
        "boundary.view_familypolicy",
        "gateway.view_budget",
        "gateway.view_deployment",
        "gateway.view_modelcall",
        "gateway.view_modelrole",
    ),
    ADMINISTRATOR: (
        "audit.view_anchor",
        "audit.view_auditevent",
        "auth.view_group",
        "boundary.change_familypolicy",
        "boundary.view_familypolicy",
        "definitions.view_agent",
        "definitions.view_agentversion",
        "gateway.add_budget",
        "gateway.change_budget",
        "gateway.view_budget",
        "gateway.add_deployment",
        "gateway.change_deployment",
        "gateway.view_deployment",
        "gateway.view_modelcall",
        "gateway.add_modelrole",
        "gateway.change_modelrole",
        "gateway.view_modelrole",
        "members.add_member",
        "members.change_member",
        "members.view_member",
    ),
}
