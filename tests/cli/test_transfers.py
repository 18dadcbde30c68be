"""`predict` with measured copies in place of the topology's."""

import json

from support import CommandTest

# Copies of one element take 1 ms, each byte more a nanosecond.
EXACT = "1,1, 1e-3,5e-5,100, 1e-3,5e-5,100, 2.0\n1000,1000, 9e-3,4e-4,50, 13.5e-3,6e-4,40, 3.5\n"
KERNEL = 2 * 2048**3 / 1e12  # s, of two-gpu


class Transfers(CommandTest):
    def predict(self, *arguments):
        return ["predict", "--gemm", "2K", "--topology", "two-gpu", "--devices", "0", "--tile", "2K", *arguments]

    def predicted(self, *arguments):
        return json.loads(self.succeed(*self.predict("--model", "dataloc", "--json", "-", *arguments)))

    def of_one_file(self, text):
        self.write("in.csv", text)
        return self.predicted("--transfers-in", "in.csv")["h2d"]

    def test_each_direction_has_its_own_file(self):
        self.write("in.csv", EXACT)
        self.write("out.csv", "1,1,2e-3,0,9,2e-3,0,9,1\n1000,1000,18e-3,0,9,18e-3,0,9,1\n")
        result = self.predicted("--transfers-in", "in.csv", "--transfers-out", "out.csv")
        matrix = 8 * 2048**2 * 1e-9  # s, at a nanosecond a byte
        self.assertAlmostEqual(
            result["predictions"][0]["predicted_s"], 3 * (1e-3 + matrix) + KERNEL + 2e-3 + 2 * matrix, places=6
        )
        self.assertAlmostEqual(result["h2d"]["latency_s"], 1e-3)
        self.assertAlmostEqual(result["h2d"]["bytes_per_s"] / 1e9, 1, places=4)
        self.assertAlmostEqual(result["d2h"]["bytes_per_s"] / 0.5e9, 1, places=4)
        self.assertAlmostEqual(result["h2d"]["slowdown"], (1 + 9 * 13.5) / (1 + 81))
        self.assertEqual(result["d2h"]["slowdown"], 1)

    def test_the_other_direction_stays_the_topologys(self):
        self.write("in.csv", EXACT)
        self.assertEqual(self.predicted("--transfers-in", "in.csv")["d2h"], self.predicted()["d2h"])

    def test_copies_from_another_gpu_stay_the_topologys(self):
        self.write("in.csv", EXACT)
        places = ("--place", "1:1:0")
        self.assertEqual(
            self.predicted("--transfers-in", "in.csv", *places)["predictions"], self.predicted(*places)["predictions"]
        )

    def test_without_copies_of_one_element_the_latency_is_where_the_line_starts(self):
        line = "".join(f"{s},{s},{1e-3 + 8e-9 * s * s!r},0,9,1,0,9,1\n" for s in (100, 500, 1000))
        transfer = self.of_one_file(line)
        self.assertAlmostEqual(transfer["latency_s"], 1e-3)
        self.assertAlmostEqual(transfer["bytes_per_s"] / 1e9, 1)
        self.assertEqual(transfer["slowdown"], 2)  # at most

    def test_a_line_that_starts_below_0_has_no_latency(self):
        transfer = self.of_one_file("100,100,1e-6,0,9,1e-6,0,9,1\n1000,1000,8e-3,0,9,8e-3,0,9,1\n")
        self.assertEqual(transfer["latency_s"], 0)
        self.assertAlmostEqual(transfer["bytes_per_s"] / 1e9, 1, places=3)

    def test_bad_rows_are_refused_with_their_place(self):
        good = "1000,1000,9e-3,0,9,9e-3,0,9,1\n"
        for bad, quoted in {
            "1000,1000,9e-3\n": "in.csv:2:1: 3 columns; expected 9: rows, columns, mean, ",
            "0,1000,9e-3,0,9,9e-3,0,9,1\n": "in.csv:2:1: rows: '0'; expected a whole number from 1",
            "1000, 1e3,9e-3,0,9,9e-3,0,9,1\n": "in.csv:2:7: columns: '1e3'; expected a whole number",
            "1000,1000, slow,0,9,9e-3,0,9,1\n": "in.csv:2:12: mean: 'slow'; expected a number",
            "1000,1000,0,0,9,9e-3,0,9,1\n": "in.csv:2:11: mean: '0'; expected seconds above 0",
            "1000,1000,9e-3,-1,9,9e-3,0,9,1\n": "in.csv:2:16: margin: '-1'; expected a number from 0",
            "1000,1000,9e-3,0,0,9e-3,0,9,1\n": "in.csv:2:18: runs: '0'; expected a whole number from 1",
            "1000,1000,9e-3,0,9,nan,0,9,1\n": "in.csv:2:20: mean busy: 'nan'; expected a number",
            "1000,1000,9e-3,0,9,9e-3,0,9,1": "in.csv:2:30: the line is cut off; expected a line break",
        }.items():
            self.write("in.csv", good + bad)
            self.assert_refused(self.predict("--transfers-in", "in.csv"), quoted)

    def test_what_no_link_does_is_refused(self):
        for large, quoted in {"1e-9": "in.csv:2:1: large copies go at ", "1e-3": "large copies go at inf PB/s; expected 1 MB/s",
                              "1e9": "large copies go at 0.008"}.items():
            self.write("in.csv", f"1,1,1e-3,0,9,1e-3,0,9,1\n1000,1000,{large},0,9,1,0,9,1\n")
            self.assert_refused(self.predict("--transfers-in", "in.csv"), quoted)
        self.write("in.csv", "1,1,11,0,9,11,0,9,1\n1000,1000,12,0,9,12,0,9,1\n")
        self.assert_refused(self.predict("--transfers-in", "in.csv"), "a copy of nothing takes 11 s; expected 0 s to 10 s")

    def test_files_without_copies_are_refused(self):
        self.write("out.csv", "")
        self.assert_refused(self.predict("--transfers-out", "out.csv"), "out.csv:1:1: no copy of more than one element")
        self.write("out.csv", "1,1,1e-3,0,9,1e-3,0,9,1\n")
        self.assert_refused(self.predict("--transfers-out", "out.csv"), "expected at least one")
        self.assert_refused(self.predict("--transfers-out", "none.csv"), "none.csv")
