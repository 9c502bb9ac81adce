"""Routes of the pages."""

from django.urls import path
from django.views.i18n import JavaScriptCatalog

from agents.web import (
    account,
    agent_history,
    artifacts,
    catalogue,
    chat,
    failures,
    inbox,
    keeping,
    limits,
    previews,
    searching,
    signing,
    studio,
    usage,
)

app_name = "web"

CONVERSATION = "c/<uuid:conversation_id>"
AGENT = "agents/<uuid:agent_id>"
SWITCHES = {
    "pin": ("pinned", True),
    "unpin": ("pinned", False),
    "archive": ("archived", True),
    "unarchive": ("archived", False),
}

urlpatterns = [
    path("", chat.home, name="home"),
    path(CONVERSATION, chat.conversation, name="conversation"),
    path(f"{CONVERSATION}/earlier", chat.earlier, name="earlier"),
    path(f"{CONVERSATION}/rename", keeping.rename, name="rename"),
    path(f"{CONVERSATION}/read", keeping.read, name="read"),
    path(f"{CONVERSATION}/delete", keeping.delete, name="delete"),
    path(f"{CONVERSATION}/restore", keeping.restore, name="restore"),
    *[
        path(f"{CONVERSATION}/{verb}", keeping.switch, {"name": name, "on": on}, name=verb)
        for verb, (name, on) in SWITCHES.items()
    ],
    path("sidebar", chat.sidebar_list, name="sidebar"),
    path("inbox", inbox.inbox, name="inbox"),
    path("inbox/items", inbox.items, name="inbox_items"),
    path("search", searching.search, name="search"),
    path("conversations", searching.everything, name="conversations"),
    path("archived", searching.archived, name="archived"),
    path("artifacts", artifacts.artifacts, name="artifacts"),
    path("artifacts/<uuid:artifact_id>", artifacts.artifact, name="artifact"),
    path(
        "artifacts/<uuid:artifact_id>/versions/<int:number>/preview",
        previews.preview,
        name="preview",
    ),
    path("ask", chat.ask, name="ask"),
    path("agents", catalogue.agents, name="agents"),
    path("agents/new", studio.new, name="new_agent"),
    path(AGENT, studio.agent, name="agent"),
    path(f"{AGENT}/try", studio.trial, name="try_agent"),
    path(f"{AGENT}/versions", agent_history.versions, name="agent_versions"),
    path(f"{AGENT}/restore", agent_history.restore, name="restore_agent"),
    path(f"{AGENT}/rollback", agent_history.rollback, name="rollback_agent"),
    path(f"{AGENT}/duplicate", studio.duplicate, name="duplicate_agent"),
    path(f"{AGENT}/delete", studio.delete, name="delete_agent"),
    path("usage", usage.usage, name="usage"),
    path("limits", limits.limits, name="limits"),
    path("account", account.profile, name="account"),
    path("account/preferences", account.choose, name="preferences"),
    path("account/tokens", account.create_token, name="create_token"),
    path("account/tokens/<uuid:token_id>/revoke", account.revoke_token, name="revoke_token"),
    path("sign-in", signing.SignIn.as_view(), name="sign_in"),
    path("sign-out", signing.SignOut.as_view(), name="sign_out"),
    path("offline", failures.offline, name="offline"),
    path("offline.js", failures.service_worker, name="service_worker"),
    path("texts.js", JavaScriptCatalog.as_view(packages=["agents.web"]), name="texts"),
]
