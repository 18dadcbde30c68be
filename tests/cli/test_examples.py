"""Worked examples of docs/model.md with a command: the command gives the page's figures. The machine of docs/formats.md
is valid."""

import json
import re
import unittest

from support import SOURCE, CommandTest, needs_simulator

PAGE = " ".join((SOURCE / "docs/model.md").read_text().split())
NUMBER = re.compile(r"\d+(?:\.(\d+))?")
CLX_AI = ("--topology", "clx-ai")


class Examples(CommandTest):
    def assert_page_says(self, words, value):
        """Expects these words in the page, with one number that is the rounded `value`."""
        self.assertIn(words, PAGE)
        number = NUMBER.search(words)
        self.assertLessEqual(abs(value - float(number[0])), 0.501 * 10.0 ** -len(number[1] or ""), words)

    def result(self, command, *arguments):
        return json.loads(self.succeed(command, *arguments, "--json", "-"))

    def ms(self, *arguments):
        return 1e3 * self.result("simulate", *arguments)["makespan_s"]


class Formats(CommandTest):
    def test_topology(self):
        example = re.search("```toml\n(.*?)```", (SOURCE / "docs/formats.md").read_text(), re.DOTALL)
        machine = self.write("example.toml", example[1])
        self.assertIn("'two-gpu' with 3 memories", self.succeed("topo", "validate", machine))


@needs_simulator
class Simulated(Examples):
    def test_blocks_and_tiles(self):
        plan = self.result("simulate", "--gemm", "16K", "--topology", "karolina-hgx-a100", "--policy", "baseline")
        self.assert_page_says("the 1664 operations", plan["ops"])

    def test_one_execution_rule_and_energy(self):
        run = self.result("simulate", "--gemm", "1K", "--tile", 512, "--beta", 0, "--topology", "two-gpu",
                          "--devices", 0, "--policy", "cocopelia")
        self.assert_page_says("makes a plan of 20 operations", run["ops"])
        self.assert_page_says("write-back ends at 2.978 ms", 1e3 * run["makespan_s"])
        self.assert_page_says("= 578 mJ", 1e3 * run["energy_j"])
        self.assert_page_says("pdp = 3.71 GFLOP/s/W", 1e-9 * run["metrics"]["pdp"])

    def test_relays(self):
        problem = ("--gemm", "16K", *CLX_AI, "--place", "0:1:2")
        self.assert_page_says("169.2 ms with relays", self.ms(*problem))
        self.assert_page_says("188.8 ms without", self.ms(*problem, "--set", "routing=link-eta"))

    def test_memory(self):
        ample = self.result("simulate", "--gemm", "16K", "--topology", "karolina-hgx-a100", "--policy", "gemmex")
        self.assert_page_says("are 2.15 of", 1e-9 * ample["peak_bytes"]["gpu0"])
        self.assert_page_says("3776 operations", ample["ops"])
        self.assert_page_says("simulated 95.5 ms", 1e3 * ample["makespan_s"])
        pooled = self.result("simulate", "--gemm", "16K", "--tile", "2K", "--topology", "two-gpu", "--devices", 0)
        self.assert_page_says("= 872.4 MB", 1e-6 * pooled["peak_bytes"]["gpu0"])

    def test_selection(self):
        everyone = self.result("simulate", "--gemm", "2K", *CLX_AI, "--set", "devices=all")
        self.assert_page_says("takes 2.351 ms", 1e3 * everyone["makespan_s"])
        self.assert_page_says("1.769 J on all", everyone["energy_j"])
        selected = self.result("simulate", "--gemm", "2K", *CLX_AI, "--set", "devices=best(metric=edp)")
        self.assert_page_says("each: 2.434 ms", 1e3 * selected["makespan_s"])
        self.assert_page_says("1.392 J, so", selected["energy_j"])
        self.assert_page_says("to 0.00339 J s", selected["edp_js"])

    def test_load_in_simulation(self):
        one_gpu = ("--topology", "hgx-h200-4", "--devices", 0, "--policy", "cocopelia")
        one_kernel = self.ms("--gemm", "2K", "--tile", "2K", "--beta", 0, "--place", "0:0:0", *one_gpu)
        self.assert_page_says("ends after 331.3 us", 1e3 * one_kernel)


class Predicted(Examples):
    def test_overlap_models(self):
        models = self.result("predict", "--gemm", "8K", "--topology", "cocopelia-testbed-2", "--devices", 0)
        dr = next(prediction for prediction in models["predictions"] if prediction["model"] == "dr")
        self.assert_page_says("with T = 2560", dr["tile"])
        self.assert_page_says("= 170.5 ms, as", 1e3 * dr["predicted_s"])

    def test_workload_model(self):
        all_of_them = self.result("predict", "--gemm", "2K", *CLX_AI, "--set", "select-by=model")["predictions"][0]
        self.assert_page_says("decide: 2.43 ms", 1e3 * all_of_them["predicted_s"])
        self.assert_page_says("= 5.64 J", all_of_them["predicted_energy_j"])


if __name__ == "__main__":
    unittest.main()
