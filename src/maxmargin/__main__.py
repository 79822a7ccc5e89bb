"""``python -m maxmargin``: the command line."""

import sys

from maxmargin.start import main

if __name__ == "__main__":
    sys.exit(main())
