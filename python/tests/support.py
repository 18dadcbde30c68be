"""Shared by the tests of the package."""

import tempfile
import unittest
from pathlib import Path

import matplotlib

import tilerail as tr

matplotlib.use("Agg")

# nvidia-smi topo -m of two GPUs with two NVLinks
NVIDIA_SMI = ("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
              "GPU0\t X \tNV2\t0-15\t0\t\tN/A\nGPU1\tNV2\t X \t0-15\t0\t\tN/A\n")


class PackageTest(unittest.TestCase):
    """Tests have a folder of their own, and share a machine and a simulated plan on it."""

    @classmethod
    def setUpClass(cls):
        cls.machine = tr.machine("two-gpu")
        cls.result = tr.simulate(tr.gemm(64), cls.machine, "gemmex", tile=32)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refused(self, call, text="", **fields):
        """The call raises InputError with this text, a pattern, and with these fields."""
        with self.subTest(text, **fields):
            with self.assertRaisesRegex(tr.InputError, text) as caught:
                call()
            self.assertEqual({name: getattr(caught.exception, name) for name in fields}, fields, str(caught.exception))
