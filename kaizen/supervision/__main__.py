"""`python -m kaizen.supervision`: run Kaizen on this machine until Ctrl-C."""

import os
import sys

from kaizen.supervision.up import up

if __name__ == "__main__":
    sys.exit(up(os.environ))
