"""`workflows/sweep`: sweeps by Snakemake."""

import os
import shutil
import subprocess
import unittest

from support import SOURCE, TILERAIL, TOPOLOGIES, CommandTest, needs_simulator
from test_sweep import FILE
from waiting import HANG


def snakemake():
    return os.environ.get("SNAKEMAKE") or shutil.which("snakemake")


@needs_simulator
@unittest.skipUnless(snakemake(), "snakemake is not installed: the workflow is not tried")
class Workflow(CommandTest):
    def snakemake(self, parts, **config):
        done = subprocess.run(
            [snakemake(), "-s", SOURCE / "workflows/sweep/Snakefile", "--cores", "2", "--config", "sweep=sweep.toml",
             f"parts={parts}", "out=out", f"tilerail={TILERAIL}"], cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES), "HOME": str(self.folder)}, timeout=HANG)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "out/sweep.csv").read_bytes()

    def test_two_local_jobs_give_the_table_of_one(self):
        self.write("sweep.toml", FILE)
        self.succeed("sweep", "sweep.toml", "--csv", "whole.csv")
        self.assertEqual(self.snakemake(2), (self.folder / "whole.csv").read_bytes())
        self.assertIn("<svg", (self.folder / "out/sweep.svg").read_text())

    def test_another_machine_or_number_of_parts_is_done_anew(self):
        text = (TOPOLOGIES / "two-gpu.toml").read_text()
        self.write("m.toml", text)
        self.write("sweep.toml", FILE.replace('"two-gpu"', '"m.toml"').replace('["f64", "f32"]', '["f64"]')
                   .replace("32..128 x2", "64"))  # three points
        first = self.snakemake(8)
        self.assertEqual(first.count(b"\n"), 4)
        self.assertEqual(self.snakemake(2), first)
        self.write("m.toml", text.replace('bandwidth = "12 GB/s"', 'bandwidth = "3 GB/s"'))
        second = self.snakemake(2)
        self.succeed("sweep", "sweep.toml", "--csv", "whole.csv")
        self.assertEqual(second, (self.folder / "whole.csv").read_bytes())
        self.assertNotEqual(second, first)


if __name__ == "__main__":
    unittest.main()
