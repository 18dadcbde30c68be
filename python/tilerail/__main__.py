import signal
import sys

from .command import main

signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # as on SIGINT, nothing staged stays behind
sys.exit(main())
