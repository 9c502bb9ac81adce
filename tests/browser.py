"""The Chromium that journeys drive: the one found here, or Debian's where it may be installed.

`python -m tests.browser` installs it where that is possible and says what journeys will do.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "chromium"
REASON = "no Chromium found: install the package chromium, or name one in KAIZEN_CHROMIUM"


def find() -> str | None:
    """Path of a Chromium, KAIZEN_CHROMIUM first; None where there is none."""
    named = os.environ.get("KAIZEN_CHROMIUM", "").strip()
    if named:
        return named if os.access(named, os.X_OK) else None
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install() -> None:
    """Have Debian's package manager bring it, as root on a system that has one."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ["update", "-q"],
        ["install", "-y", "-q", "--no-install-recommends", PACKAGE],
    ):
        if subprocess.run(["apt-get", *words], env=environment, check=False).returncode != 0:
            return


def main() -> int:
    if find() is None:
        print("kaizen   | journeys need a browser; installing Debian's chromium", flush=True)
        install()
    if find() is None:
        print(f"kaizen   | journeys will be skipped: {REASON}", flush=True)
        return 1 if os.environ.get("CI") == "true" else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
