"""Drawings from `templates/static/icons`, written into the page so that they never flash."""

from functools import cache
from pathlib import Path

from django import template
from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
FOLDER = Path(settings.BASE_DIR) / "templates" / "static" / "icons"


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """The markup of one of our own SVG files; an unknown name is a fault of the template."""
    source = (FOLDER / f"{name}.svg").read_text(encoding="utf-8").strip()
    return mark_safe(source)  # our own file, named by a template literal


@register.filter
def initial(name: str) -> str:
    """The letter that stands for a person or an agent in a small mark."""
    return name.strip()[:1].upper() or "·"
