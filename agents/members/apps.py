"""Django app configuration."""

from typing import Any

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string


class MembersConfig(AppConfig):
    name = "agents.members"
    label = "members"

    def ready(self) -> None:
        # Models may only be imported once the registry is ready, so by dotted path.
        post_migrate.connect(_reconcile_roles, dispatch_uid="reconcile-roles")
        user_logged_in.connect(_record("SIGN_IN"), weak=False, dispatch_uid="audit-sign-in")
        user_logged_out.connect(_record("SIGN_OUT"), weak=False, dispatch_uid="audit-sign-out")


def _reconcile_roles(app_config: AppConfig, using: str, **signal: Any) -> None:
    # Permissions of an app appear after its own post_migrate, so run after every app.
    import_string("agents.members.accounts.reconcile_roles")(using=using)


def _record(action: str) -> Any:
    def receive(user: Any = None, **signal: Any) -> None:
        if user is not None:
            import_string("audit.funnel.record")(
                action=import_string("audit.reasons.Action")[action],
                actor=user.principal,
                outcome="success",
            )

    return receive
