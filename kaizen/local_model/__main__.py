"""`python -m kaizen.local_model SOCKET`: serve the local model until told to stop.

The key comes from KAIZEN_SECRET_LOCAL_MODEL, the file from KAIZEN_LOCAL_MODEL when set.
"""

import argparse
import os
import sys
from pathlib import Path

from kaizen.embedded.failures import StartRefused
from kaizen.local_model.server import serve
from kaizen.local_model.weights import chosen

KEY_NAME = "KAIZEN_SECRET_LOCAL_MODEL"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m kaizen.local_model")
    parser.add_argument("socket", type=Path, help="path of the Unix socket; must end in .sock")
    socket = parser.parse_args().socket.resolve()
    try:
        key = os.environ.get(KEY_NAME, "")
        if not key:
            raise StartRefused(
                f"{KEY_NAME} is not set.", "The local model answers nobody without it."
            )
        serve(chosen(os.environ), socket, key)
    except StartRefused as refusal:
        print(f"kaizen: {refusal}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
