"""Copies split over several routes, in the output of commands."""

import json
import unittest
import xml.etree.ElementTree
from collections import Counter
from fractions import Fraction

from support import CommandTest, kernels_text, machine_text, needs_simulator, rows


def route_text(start, end, links, share=1):
    return f"""[[route]]
from = "{start}"
to = "{end}"
links = {json.dumps(links)}
share = {share}
source = "made"
"""


class SplitRoutes(CommandTest):
    """Two rails between the host and a GPU: 12 GB/s over s0, 20 GB/s over s1, which carries two of three parts."""

    LINKS = [("host", "s0", 12), ("s0", "gpu0", 30), ("host", "s1", 20), ("s1", "gpu0", 30)]
    SWITCHES = '[[switch]]\nnames = "s[0-1]"\nsource = "made"\n' + kernels_text('rates = [[1024, "5 TFLOP/s"]]')
    ROUTES = (route_text("host", "gpu0", ["host->s0", "s0->gpu0"]) + route_text("host", "gpu0", ["host->s1", "s1->gpu0"], 2) +
              "".join(route_text("gpu0", "host", [f"gpu0->{rail}", f"{rail}->host"]) for rail in ("s0", "s1")))

    def setUp(self):
        super().setUp()
        self.write("rails.toml", machine_text("rails", 1, self.LINKS, self.SWITCHES + self.ROUTES))

    def test_the_table_has_both_routes_and_their_rate(self):
        shown = self.succeed("topo", "show", "rails.toml")
        self.assertRegex(shown, r"host to GPU +1 +4 +2.000 us +30.0  host s0 gpu0 and 2 parts host s1 gpu0")
        self.assertRegex(shown, r"GPU to host +1 +4 +2.000 us +24.0  gpu0 s0 host and gpu0 s1 host")
        flat = self.succeed("topo", "show", "rails.toml", "--flat")
        self.assertEqual(flat.count("share = 2"), 1)
        self.write("flat.toml", flat)
        self.assertEqual(self.succeed("topo", "show", "flat.toml"), shown)

    def test_a_platform_lists_a_link_for_each_part(self):
        self.succeed("topo", "export", "rails.toml", "--simgrid", "p.xml")
        platform = xml.etree.ElementTree.parse(self.folder / "p.xml").getroot()
        routes = {route.get("src"): [link.get("id") for link in route.iter("link_ctn")] for route in platform.iter("route")}
        self.assertEqual((routes["host"].count("link host->s0"), routes["host"].count("link host->s1")), (2, 4))
        self.assertEqual((routes["gpu0"].count("link gpu0->s0"), routes["gpu0"].count("link gpu0->s1")), (3, 3))

    @needs_simulator
    def test_a_timeline_and_its_summary_agree(self):
        self.write("hosts.toml", machine_text("hosts", 2, [("host*", "gpu[0-1]", 10)], '[[memory]]\nname = "host1"\nkind = '
                                              '"host"\nsource = "made"\n' + kernels_text('rates = [[1024, "5 TFLOP/s"]]'))
                   .replace('from = "host*"', 'from = ["host", "host1"]'))
        for machine, place in (("rails.toml", "h:h:h"), ("hosts.toml", "h*:h*:h*")):
            self.succeed("simulate", "--gemm", "512", "--tile", "128", "--topology", machine, "--place", place, "--json",
                         "use.json", "--timeline", "use.csv")
            result, moved = json.loads((self.folder / "use.json").read_text()), Counter()
            for row in rows(self.folder / "use.csv"):
                for entry in filter(None, row["route"].split(";")):
                    link, _, share = entry.partition(" ")
                    moved[link] += int(row["bytes"]) * float(Fraction(share or 1))
            self.assertGreater(max(link["utilisation"] for link in result["links"]), 0.1)
            for link in result["links"]:
                use = moved[link["name"]] / (1e9 * self.rate(machine, link["name"]) * result["makespan_s"])
                self.assertAlmostEqual(use, link["utilisation"], delta=0.002, msg=(machine, link["name"]))

    def rate(self, machine, link):
        ends = set(link.split("->"))
        return 10 if machine == "hosts.toml" else next(rate for a, b, rate in self.LINKS if {a, b} == ends)

    def test_paths_of_equal_time_are_split_if_the_file_requests_it(self):
        links = [(start, end, 10) for start, end, _ in self.LINKS]
        self.write("one.toml", machine_text("one", 1, links, self.SWITCHES))
        split = '[copies]\nmultipath = "split"\nsource = "made"\n'
        self.write("split.toml", machine_text("split", 1, links, self.SWITCHES + split))
        self.assertRegex(self.succeed("topo", "show", "one.toml"), r"host to GPU .* 10.0  host s0 gpu0\n")
        self.assertRegex(self.succeed("topo", "show", "split.toml"), r"host to GPU .* 20.0  host s0 gpu0 and host s1 gpu0\n")
        self.write("bad.toml", machine_text("bad", 1, links, self.SWITCHES + split.replace("split", "both")))
        self.assert_refused(["topo", "show", "bad.toml"], "multipath: 'both' is unknown; expected one or split")

    def test_too_many_parts_are_refused_at_their_line(self):
        for share, words in ((0, "share: '0' is out of range"), (17, "expected 1 to 16")):
            self.write("bad.toml", machine_text("bad", 1, self.LINKS, self.SWITCHES + self.ROUTES.replace(
                "share = 2", f"share = {share}")))
            self.assert_refused(["topo", "show", "bad.toml"], words)
        primes = "".join(route_text("host", "gpu1", [f"host->{rail}", f"{rail}->gpu1"], share)
                         for rail, share in (("s0", 6), ("s1", 7)))
        links = [*self.LINKS, ("s[0-1]", "gpu1", 30)]
        self.write("bad.toml", machine_text("bad", 2, links, self.SWITCHES + self.ROUTES + primes))
        self.assert_refused(["topo", "validate", "bad.toml"], "the common multiple is 78, and 78 over the hosts; expected at most 60")


if __name__ == "__main__":
    unittest.main()
