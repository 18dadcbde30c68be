"""The example notebooks run from top to bottom, without Jupyter, in a folder of their own."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

NOTEBOOKS = pathlib.Path(__file__).parents[2] / "examples" / "notebooks"


class NotebookTest(unittest.TestCase):
    def test_each_notebook_runs_and_keeps_no_outputs(self):
        files = sorted(NOTEBOOKS.glob("*.ipynb"))
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            notebook = json.loads(file.read_text(encoding="utf-8"))
            code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
            with self.subTest(file.stem), tempfile.TemporaryDirectory() as folder:
                self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 4))
                self.assertFalse([cell for cell in notebook["cells"] if cell.get("outputs")])
                ended = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                                       env=os.environ | {"MPLBACKEND": "Agg"})
                self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    unittest.main()
