"""Runs experiments in this process, in a temporary folder."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import pandas

from tilerail.experiments import __main__ as command

SOURCE = pathlib.Path(os.environ.get("TILERAIL_SOURCE", pathlib.Path(__file__).parents[2]))


def svg_texts(path):
    """The texts of a figure, in file order."""
    return [text.replace("&gt;", ">").replace("&lt;", "<") for text in re.findall(r"<text[^>]*>([^<]*)</text>",
                                                                                   path.read_text())]


class ExperimentTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tilerail-experiment-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_command(self, *words):
        """Exit code, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command.main([str(word) for word in words])
        return code, out.getvalue(), err.getvalue()

    def succeed(self, *words):
        code, out, err = self.run_command(*words, "-o", self.folder)
        self.assertEqual((code, err), (0, ""), words)
        return out

    def rows(self, name):
        return pandas.read_csv(self.folder / f"{name}.csv", comment="#", float_precision="round_trip")

    def assert_refused(self, words, quoted):
        code, out, err = self.run_command(*words)
        self.assertEqual((code, out), (2, ""), words)
        self.assertRegex(err, r"\Atilerail: error: .*\n\Z")
        self.assertIn(quoted, err)
