"""`compare --cases`: cases that are planned, simulated and run, here on the host backend."""

import csv
import json
import unittest

from support import OLD, SMALL, CommandTest, needs_simulator

COLUMNS = (
    "routine m n k dtype transa transb alpha beta place devices policy group label tile ops plan_s plan_cache "
    "without_effect first_s bound_s bound_by predicted_s interval_low_s interval_high_s in_interval measured_s "
    "measured_min_s over_bound traced_s issue_per_op_s "
    "kernel_s copy_s waiting_s issue_s predicted_energy_j modelled_energy_j counted_energy_j "
    "counted_call_s check"
).split()

LIBRARY_COSTS_OFF = [word for cost in ("task-us", "request-us", "peer-us") for word in ("--set", f"{cost}=0")]

# The third case is the only one of its group, the fourth has no group: neither is ranked.
CASES = """m,n,k,dtype,transb,place,devices,policy,tile,set,group,label
64,64,64,,,,,gemmex,32,,tiles,small tiles
64,64,64,,,,,gemmex,64,,tiles,large tiles
48,32,1K,f32,T,0:h:h,0,tilerail,32,batch=chain(chunks=2) routing=initial,alone,
64,64,64,,,,,gemmex,32,,,
"""


def compare(*arguments, backend="host"):
    return ["compare", "--cases", "cases.csv", "--backend", backend, "--topology", "two-gpu", *arguments]


class Cases(CommandTest):
    def measured(self, *arguments):
        """The printed table, and the rows of the CSV."""
        text = self.succeed(*compare("--iters", "2", "--warmup", "1", "--csv", "results.csv", *arguments))
        with open(self.folder / "results.csv", newline="") as file:
            reader = csv.DictReader(file)
            results = list(reader)
        self.assertEqual(reader.fieldnames, COLUMNS)
        return text, results

    def test_measuring_alone_needs_no_simulator(self):
        self.write("cases.csv", CASES)
        text, results = self.measured("--no-simulate")
        self.assertEqual(len(results), 4)
        for row in results:
            self.assertGreater(float(row["measured_s"]), 0)
            empty = "predicted_s kernel_s copy_s waiting_s issue_s predicted_energy_j check".split()
            empty += ["interval_low_s", "interval_high_s", "in_interval"]
            empty += ["counted_energy_j", "counted_call_s"]  # the host counts no energy
            for column in empty:
                self.assertEqual(row[column], "", column)
            # Each GPU of two-gpu draws 50 to 250 W. Measured iterations and the timeline are from the same calls.
            watts = float(row["modelled_energy_j"]) / float(row["measured_s"]) / int(row["devices"])
            self.assertGreaterEqual(watts, 50 * (1 - 1e-6))
            self.assertLess(watts, 250)

    def test_lines_may_begin_and_end_as_in_spreadsheets(self):
        self.write("cases.csv", CASES.replace("\n", "\r\n"))
        self.assertEqual([row["m"] for row in self.measured("--no-simulate")[1]], ["64", "64", "48", "64"])
        self.write("cases.csv", "\ufeff" + CASES)
        self.assertEqual(len(self.measured("--no-simulate")[1]), 4)
        self.write("cases.csv", CASES.replace("48,32", "48\r,32"))
        self.assert_refused(compare("--no-simulate"), "cases.csv:4:3: control character 0x0d")

    def test_rows_contain_the_request_and_the_plan(self):
        self.write("cases.csv", CASES)
        _, results = self.measured("--no-simulate")
        third = results[2]
        expected = {"m": "48", "n": "32", "k": "1024", "dtype": "f32", "transa": "N", "transb": "T", "alpha": "1"}
        expected |= {"place": "0:h:h", "devices": "1", "tile": "32", "group": "alone", "label": ""}
        self.assertEqual({key: third[key] for key in expected}, expected)
        self.assertEqual(third["policy"], "tilerail+tile=32+batch=chain(chunks=2)+routing=initial")
        self.assertEqual([row["label"] for row in results], ["small tiles", "large tiles", "", ""])
        plan = json.loads(self.succeed("plan", *SMALL, "-o", "-"))
        self.assertEqual(results[0]["ops"], str(len(plan["ops"])))

    @needs_simulator
    def test_predictions_equal_simulate_and_errors_are_split(self):
        self.write("cases.csv", CASES)
        _, results = self.measured()
        # Runs execute the plan, without the overhead of gemmex's own library.
        simulated = json.loads(self.succeed("simulate", *SMALL, *LIBRARY_COSTS_OFF, "--json", "-"))
        self.assertEqual(float(results[0]["predicted_s"]), simulated["makespan_s"])
        self.assertEqual(float(results[0]["predicted_energy_j"]), simulated["energy_j"])
        for row in results:
            difference = float(row["predicted_s"]) - float(row["measured_s"])
            parts = sum(float(row[part]) for part in ("kernel_s", "copy_s", "waiting_s", "issue_s"))
            self.assertAlmostEqual(parts, difference, delta=1e-9)
            self.assertLessEqual(float(row["measured_min_s"]), float(row["measured_s"]))

    @needs_simulator
    def test_every_row_has_its_bound(self):
        self.write("cases.csv", CASES)
        _, results = self.measured()
        simulated = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        self.assertEqual((float(results[0]["bound_s"]), results[0]["bound_by"]),
                         (simulated["bound_s"], simulated["bound_by"]))
        for row in results:
            self.assertLessEqual(float(row["bound_s"]), float(row["predicted_s"]))
            over = float(row["measured_s"]) / float(row["bound_s"])
            self.assertAlmostEqual(float(row["over_bound"]) / over, 1)
        # The third case is on one GPU of two, the others on both: the bound is for the GPUs of the case.
        one = ["simulate", "--gemm", "48,32,1K", "--dtype", "f32", "--transb", "T", "--place", "0:h:h", "--devices", "0",
               "--topology", "two-gpu", "--json", "-"]
        self.assertEqual(float(results[2]["bound_s"]), json.loads(self.succeed(*one))["bound_s"])

    @needs_simulator
    def test_the_table_has_a_line_per_case(self):
        self.write("cases.csv", CASES)
        text, results = self.measured()
        lines = text.splitlines()
        self.assertTrue(lines[0].startswith("case "))
        self.assertTrue(lines[1].startswith("small tiles x2"), lines[1])
        self.assertTrue(lines[3].startswith("48,32,1K f32 0:h:h x1"), lines[3])
        self.assertIn("4 cases: error median", text)
        self.assertIn(": the plan with batch=tree is the same", results[2]["without_effect"])

    def test_cases_may_be_of_any_routine(self):
        self.write("cases.csv", "routine,m,n,k,transa,place,tile\ngemv,48,1,1K,T,0:h:h,32\ndot,1,1,1K,,h:1,100\n"
                                "axpy,1K,1,1,,,100\n,32,32,32,,,\n")
        text, results = self.measured("--no-simulate", "--check")
        self.assertEqual([[row[key] for key in ("routine", "m", "n", "k", "place", "check")] for row in results],
                         [["gemv", "48", "1", "1024", "0:h:h", "passed"], ["dot", "1", "1", "1024", "h:1", "passed"],
                          ["axpy", "1024", "1", "1", "h:h", "passed"], ["gemm", "32", "32", "32", "h:h:h", "passed"]])
        self.assertIn("\naxpy 1K,1,1 f64 h:h x", text)

    def test_an_empty_sum_that_scales_is_a_case(self):
        self.write("cases.csv", "m,n,k,beta\n64,64,0,2\n")
        text, results = self.measured("--no-simulate", "--check")
        self.assertEqual(results[0]["check"], "passed")
        self.assertNotIn("nan", text)

    def test_checks_pass(self):
        self.write("cases.csv", CASES)
        _, results = self.measured("--no-simulate", "--check")
        self.assertEqual([row["check"] for row in results], ["passed"] * 4)


# A file of cases, and the quotes in the error.
BAD_FILES = {
    "empty": ("", "cases.csv:1"),
    "no cases": ("m,n,k\n", "has no cases"),
    "unknown column": ("m,n,k,colour\n1,1,1,red\n", "cases.csv:1:7: 'colour'"),
    "column twice": ("m,n,k,m\n1,1,1,1\n", "column: 'm' appears twice"),
    "no k": ("m,n\n1,1\n", "no column 'k'"),
    "too few cells": ("m,n,k\n64,64,64\n64,64\n", "cases.csv:3"),
    "blank line": ("m,n,k\n64,64,64\n\n", "cases.csv:3:1: has 1 cells"),
    "empty size": ("m,n,k\n64,,64\n", "cases.csv:2:4: '' is not a size"),
    "size that is a word": ("m,n,k\n64,64,64\n64,big,64\n", "cases.csv:3:4: n: 'big'"),
    "unknown routine": ("m,n,k,routine\n1,1,1,trsm\n", "cases.csv:2:7: routine: 'trsm'"),
    "gemv of two columns": ("m,n,k,routine\n8,2,8,gemv\n", "cases.csv:2:3: n: '2' is not 1"),
    "axpy with a k": ("m,n,k,routine\n8,1,8,axpy\n", "cases.csv:2:5: k: '8' is not 1"),
    "dot of three places": ("m,n,k,routine,place\n1,1,8,dot,h:h:h\n", "cases.csv:2:11: place: 'h:h:h' is not X:Y"),
    "unknown dtype": ("m,n,k,dtype\n64,64,64,f64\n64,64,64,f8\n", "cases.csv:3:10: dtype: 'f8'"),
    "unknown policy": ("m,n,k,policy\n64,64,64,best\n", "cases.csv:2:10: policy: 'best'"),
    "unknown tile": ("m,n,k,tile,policy\n64,64,64,small,gemmex\n", "cases.csv:2:10: tile: 'small'"),
    "unknown field": ("m,n,k,set\n64,64,64,speed=max\n", "cases.csv:2:10: set: 'speed=max'"),
    "unknown place": ("m,n,k,place\n64,64,64,h:h:7\n", "cases.csv:2:10: place: '7'"),
    "type that the machine has not": ("m,n,k,dtype\n64,64,64,tf32\n", "cases.csv:2:10: dtype: 'tf32' has no GEMM times "
                                      "for NN on machine 'two-gpu'; expected one of: f64, f32, f16, bf16"),
    "matrices that do not fit": ("m,n,k,place\n64K,64K,64K,0:0:0\n", "cases.csv:2:13: place: 'gpu0'"),
    "no columns": ("m,n,k\n64,64,64\n64,0,64\n", "cases.csv:3:4: n: changes nothing"),
    "empty sum": ("m,n,k,alpha\n64,64,0,1\n", "cases.csv:2:7: k: changes nothing"),
    "nothing added": ("m,n,k,alpha\n64,64,64,0\n", "cases.csv:2:10: alpha: changes nothing"),
    "tile that is set, too": ("m,n,k,tile,set\n64,64,64,32,tile=16\n", "cases.csv:2:13: set: 'tile=16' is not a field; expected an argument of its own, tile"),
    "tile of too many kernels": ("m,n,k,tile\n64,1M,1M,1\n", "cases.csv:2:10: tile: '1' cuts the problem into"),
    "unknown device": ("m,n,k,devices\n64,64,64,5\n", "cases.csv:2:10: devices: '5' is not a processor"),
}


class BadCases(CommandTest):
    def test_files_are_refused_with_their_line(self):
        for name, (text, quoted) in BAD_FILES.items():
            with self.subTest(name):
                self.write("cases.csv", text)
                self.write("results.csv", OLD)
                self.assert_refused(compare("--no-simulate", "--csv", "results.csv"), quoted)

    def test_arguments_are_refused(self):
        self.write("cases.csv", CASES)
        for arguments, quoted in (
            (["compare", "--cases", "absent.csv", "--backend", "host", "--topology", "two-gpu"], "absent.csv"),
            (["compare", "--cases", "cases.csv", "--topology", "two-gpu"], "--backend"),
            (["compare", "--cases", "cases.csv", "--backend", "host"], "--topology"),
            (["compare", "a.csv", "b.csv", "--cases", "cases.csv", "--backend", "host"], "--cases"),
            (compare(backend="gpu"), "gpu"),
            (compare("--iters", "0"), "'0'"),
            (compare("--warmup", "x"), "'x'"),
            (compare("--host-buffers", "scattered"), "'scattered'"),
            (compare("--energy", "1"), "--energy: '1' is invalid on the host"),
            (compare("--csv", "absent/results.csv"), "absent/results.csv"),
            (compare("--json", "results.json"), "--cases: excludes --json"),
            (compare("--trace", "both.json"), "--cases: excludes --trace"),
            (compare("--gantt", "both.svg"), "--cases: excludes --gantt"),
            (["compare", "a.csv", "b.csv", "--csv", "results.csv"], "--cases"),
            (["compare", "a.csv", "b.csv", "--no-simulate"], "--cases"),
        ):
            with self.subTest(quoted):
                self.assert_refused(arguments, quoted)

    def test_cuda_without_a_gpu_is_absent_hardware(self):
        self.write("cases.csv", CASES)
        self.assert_refused(compare("--no-simulate", backend="cuda"), "no CUDA ", code=3, CUDA_VISIBLE_DEVICES="")


if __name__ == "__main__":
    unittest.main()
