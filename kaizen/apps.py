"""The composition root as a Django app: its commands and checks."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class KaizenConfig(AppConfig):
    name = "kaizen"
    label = "kaizen"


class KaizenAdminConfig(AdminConfig):
    """Makes our site the one that `admin.register` fills; it needs the models, so by its path."""

    default_site = "kaizen.administration.KaizenAdminSite"
