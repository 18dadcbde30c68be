"""`chain`: the order of several products, and what stands beside it."""

import json
import unittest

from support import OLD, TOPOLOGIES, CommandTest, needs_simulator

CHAIN = ["chain", "--dims", "4K,256,4K,512", "--topology", "two-gpu"]


@needs_simulator
class Chain(CommandTest):
    def result(self, *arguments):
        return json.loads(self.succeed(*arguments, "--json", "-"))

    def test_the_small_product_comes_first_and_stays_on_a_gpu(self):
        result = self.result(*CHAIN)
        chosen = result["chosen"]
        self.assertEqual(chosen["order"], "(A (B C))")
        self.assertEqual([product["product"] for product in chosen["products"]], ["B C", "A (B C)"])
        first, last = chosen["products"]
        self.assertEqual((first["m"], first["n"], first["k"]), (256, 512, 4096))
        self.assertIn(first["place"][2], ("gpu0", "gpu1"))
        self.assertEqual(last["place"], ["host", first["place"][2], "host"])
        total = sum(product["simulated_s"] for product in chosen["products"])
        self.assertAlmostEqual(chosen["simulated_s"], total, delta=1e-12)

    def test_a_product_takes_what_simulate_gives_it(self):
        first, last = self.result(*CHAIN)["chosen"]["products"]
        for product, place in ((first, "h:h:1"), (last, "h:1:h")):
            self.assertEqual(product["place"], ["gpu1" if name == "1" else "host" for name in place.split(":")])
            sizes = ",".join(str(product[key]) for key in ("m", "n", "k"))
            alone = self.result("simulate", "--gemm", sizes, "--beta", 0, "--place", place, "--topology", "two-gpu")
            self.assertAlmostEqual(product["simulated_s"], alone["makespan_s"], delta=1e-9 * alone["makespan_s"])
            self.assertEqual((product["tile"], product["devices"]), (alone["tile"], alone["devices"]))

    def test_all_other_orders_and_the_naive_way_stand_beside_it(self):
        result = self.result("chain", "--dims", "512,64,512,64,512", "--topology", "two-gpu")
        chosen, others = result["chosen"], result["others"]
        orders = [other["order"] for other in others if other["way"] == "order"]
        self.assertEqual(len({chosen["order"], *orders}), 5)  # Catalan's number of three products
        naive = others[-1]
        self.assertEqual((naive["way"], naive["order"]), ("left to right over the host", "(((A B) C) D)"))
        self.assertEqual({product["place"][2] for product in naive["products"]}, {"host"})
        for other in others:
            self.assertAlmostEqual(other["ratio"], other["simulated_s"] / chosen["simulated_s"], delta=1e-12)
            self.assertGreaterEqual(other["predicted_s"], chosen["predicted_s"])

    def test_many_factors_have_the_naive_way_alone(self):
        others = self.result("chain", "--dims", "64,64,64,64,64,64,64", "--topology", "two-gpu")["others"]
        self.assertEqual([other["way"] for other in others], ["left to right over the host"])

    def test_two_factors_are_one_product(self):
        result = self.result("chain", "--dims", "512,256,128", "--topology", "two-gpu", "--trans", "TN", "--place", "0:h:1",
                             "--dtype", "f32", "--beta", 1)
        (product,) = result["chosen"]["products"]
        self.assertEqual(result["others"], [])
        alone = self.result("simulate", "--gemm", "512,128,256", "--transa", "T", "--place", "0:h:1", "--dtype", "f32",
                            "--topology", "two-gpu")
        self.assertAlmostEqual(product["simulated_s"], alone["makespan_s"], delta=1e-9 * alone["makespan_s"])

    def test_the_text_shows_the_same(self):
        chosen = self.result(*CHAIN)["chosen"]
        text = self.succeed(*CHAIN)
        self.assertIn("problem  chain 4096,256,4096,512 dtype=f64 trans=NNN alpha=1 beta=0 place=host:host:host:host", text)
        self.assertRegex(text, r"order    \(A \(B C\)\), the best by \d+ estimates")
        total = next(line for line in text.splitlines() if line.startswith("total"))
        self.assertIn(f"{1e3 * chosen['simulated_s']:.4g} ms", total)
        self.assertRegex(text, r"\(A \(B C\)\) +gpu1 .* 1\.00  chosen\n")

    def test_an_order_that_does_not_fit_is_told(self):
        # (A B) would have 3.2 GB, more than the host of this machine.
        self.write("small.toml", (TOPOLOGIES / "two-gpu.toml").read_text().replace('kind = "host"', 'kind = "host"\ncapacity = "1 GB"'))
        text = self.succeed("chain", "--dims", "20000,64,20000,64", "--topology", "small.toml")
        self.assertIn("((A B) C): --place: needs ", text)
        others = self.result("chain", "--dims", "20000,64,20000,64", "--topology", "small.toml")["others"]
        self.assertTrue(all("needs" in other["error"] and "ratio" not in other for other in others))


class Refused(CommandTest):
    CASES = {
        "no sizes": (["chain", "--topology", "two-gpu"], "--dims"),
        "one matrix": ({"--dims": "64,64"}, "--dims: '64,64' has 2 sizes; expected 3 to 13"),
        "many matrices": ({"--dims": ",".join(["64"] * 14)}, "has 14 sizes; expected 3 to 13"),
        "size that is a word": ({"--dims": "64,big,64"}, "--dims: 'big'"),
        "empty size": ({"--dims": "64,,64"}, "--dims: ''"),
        "nothing to multiply": ({"--dims": "64,0,64"}, "--dims: '64,0,64' has a size of 0"),
        "size above 2^40": ({"--dims": "64,1048577M,64"}, "--dims: factor 1 (A): 64 x 1099512676352 elements"),
        "few places": ({"--place": "h:h"}, "--place: 'h:h' has 2 places; expected 4"),
        "place of no GPU": ({"--place": "h:7:h:h"}, "--place: '7' is no memory"),
        "copies of the result": ({"--place": "h:h:h:g*"}, "--place: 'h:h:h:g*' for what is written"),
        "few transposes": ({"--trans": "NT"}, "--trans: 'NT' is not 3 letters"),
        "unknown transpose": ({"--trans": "NXN"}, "'X'"),
        "unknown dtype": ({"--dtype": "f8"}, "f8"),
        "dtype that the machine has not": ({"--dtype": "tf32"}, "--dtype: machine 'two-gpu' has no GEMM times"),
        "alpha of zero": ({"--alpha": "0"}, "--alpha: '0' leaves nothing to multiply"),
        "beta that is a word": ({"--beta": "one"}, "--beta: 'one'"),
        "factors that do not fit": ({"--dims": "20000,20000,64,64", "--place": "0:h:h:h"}, "--place: needs"),
        "unknown policy": ({"--policy": "best"}, "best"),
        "result into no folder": ({"--json": "absent/out.json"}, "absent/out.json"),
    }

    def test_each_is_refused(self):
        for name, (changes, quoted) in self.CASES.items():
            with self.subTest(name):
                options = {"--dims": "64,32,64,16", "--topology": "two-gpu"}
                arguments = changes
                if isinstance(changes, dict):
                    options.update(changes)
                    arguments = ["chain", *(word for option in options.items() for word in option)]
                self.assert_refused(arguments, quoted)

    def test_the_result_keeps_its_old_content(self):
        self.write("out.json", OLD)
        self.assert_refused([*CHAIN, "--place", "h:7:h:h", "--json", "out.json"], "'7'")


if __name__ == "__main__":
    unittest.main()
