"""`python -m stickler_cli` is `stickler`."""

import sys

from stickler_cli.cli import main

if __name__ == "__main__":
    sys.exit(main())
