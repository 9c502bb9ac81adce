"""Routes of the pages."""

from django.urls import path
from django.views.i18n import JavaScriptCatalog

from agents.web import (
    account,
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
    usage,
)

app_name = "web"

CONVERSATION = "c/<uuid:conversation_id>"
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
    path("agents", catalogue.agents, name="agents"),
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
