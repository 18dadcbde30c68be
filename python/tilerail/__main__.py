import signal
import sys

from .command import main

signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # removes staged files, as on SIGINT
sys.exit(main())
