#!/usr/bin/env python
"""Django's command line for Kaizen."""

import os
import sys

from django.core.management import execute_from_command_line

from kaizen import doctor
from kaizen.embedded.attaching import attach
from kaizen.embedded.failures import StartRefused
from kaizen.environment import InvalidSetting


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kaizen.settings")
    try:
        attach(os.environ)
        if sys.argv[1:2] == ["doctor"]:  # it also speaks when settings cannot be read
            return doctor.main()
        execute_from_command_line(sys.argv)
    except InvalidSetting as fault:
        print(f"kaizen: {fault}\n`manage.py doctor` says more.", file=sys.stderr)
        return 1
    except StartRefused as refusal:
        print(f"kaizen: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
