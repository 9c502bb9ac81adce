"""Addresses of sockets."""

from typing import Final

from django.urls import URLPattern, path, re_path

from agents.streaming.consumers import ConversationConsumer, NowhereConsumer

websocket_urlpatterns: Final[list[URLPattern]] = [
    path("ws/conversations/<uuid:conversation_id>", ConversationConsumer.as_asgi()),
    re_path(r"", NowhereConsumer.as_asgi()),
]
