"""The example notebooks run from top to bottom, without Jupyter, in a folder of their own."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

NOTEBOOKS = pathlib.Path(__file__).parents[2] / "examples" / "notebooks"


def code_of(notebook: dict) -> str:
    return "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")


class NotebookTest(unittest.TestCase):
    def run_notebook(self, name: str):
        notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 4))
        for cell in notebook["cells"]:
            self.assertFalse(cell.get("outputs"), "outputs are not kept")
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([sys.executable, "-c", code_of(notebook)], cwd=folder, capture_output=True, text=True,
                                   env=os.environ | {"MPLBACKEND": "Agg"})
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_explore(self):
        self.run_notebook("explore")

    def test_validate(self):
        self.run_notebook("validate")

    def test_reproduce(self):
        self.run_notebook("reproduce")

    def test_all_are_run(self):
        names = {file.stem for file in NOTEBOOKS.glob("*.ipynb")}
        self.assertEqual({f"test_{name}" for name in names}, set(dir(self)) & {f"test_{name}" for name in names})
        self.assertTrue(names)


if __name__ == "__main__":
    unittest.main()
