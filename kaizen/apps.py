"""The composition root as a Django app: its commands and checks."""

from django.apps import AppConfig


class KaizenConfig(AppConfig):
    name = "kaizen"
    label = "kaizen"
