"""``python -m voiceagent`` is the command line."""

import sys

from voiceagent.cli import main

if __name__ == "__main__":
    sys.exit(main())
