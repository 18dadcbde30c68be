"""stub.py FOLDER: writes the types of the native module there, for editors and type checkers."""

import os
import sys

from nanobind import stubgen

sys.setdlopenflags(os.RTLD_LAZY)  # as in tilerail/_core.py: works without cuBLAS
stubgen.main(["-q", "-i", sys.argv[1], "-m", "_native", "-o", f"{sys.argv[1]}/_native.pyi"])
