"""A tile longer than every side of the problem: the plan's tile equals the longest side."""

import json
import unittest

from support import CommandTest


class LongTiles(CommandTest):
    def plan(self, *arguments):
        return json.loads(self.succeed("plan", "--topology", "two-gpu", *arguments, "-o", "-"))

    def test_the_plan_has_the_longest_side(self):
        for problem, longest in ((["--gemm", "1K"], 1024), (["--gemm", "100,70,3000"], 3000), (["--gemm", "1,1,5000"], 5000),
                                 (["--gemm", "5000,1,1"], 5000), (["--gemv", "700,3000"], 3000),
                                 (["--gemv", "3000,700", "--transa", "T"], 3000), (["--dot", "5000"], 5000),
                                 (["--axpy", "5000"], 5000)):
            for policy in ("tilerail", "gemmex", "cublasxt"):
                for tile in (longest + 1, 100000, "1024M"):
                    with self.subTest(problem=problem, policy=policy, tile=tile):
                        plan = self.plan(*problem, "--policy", policy, "--tile", tile)
                        self.assertEqual(plan["tile"], longest)

    def test_the_plan_equals_the_plan_of_the_longest_tile(self):
        longer = self.plan("--gemm", "1K", "--policy", "gemmex", "--tile", "100000")
        same = self.plan("--gemm", "1K", "--policy", "gemmex", "--tile", "1K")
        self.assertEqual(longer["ops"], same["ops"])
        self.assertEqual(longer["tile"], same["tile"])


if __name__ == "__main__":
    unittest.main()
