"""Figures of machines; drawing is skipped without matplotlib."""

import json
import os
import unittest

import sample
from sample import shown
from test_timeline import Folder

from tilerail import TimelineError
from tilerail.machine_figure import draw, layout, link_use

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch
except ImportError:
    matplotlib = None


def both(a, b, rate):
    return [{"name": f"{x}->{y}", "from": x, "to": y, "bandwidth": rate} for x, y in ((a, b), (b, a))]


MACHINE = {
    "name": "tree",
    "vertices": [{"name": "host", "kind": "host", "lines": []}, {"name": "plx0", "kind": "switch", "lines": []},
              {"name": "plx1", "kind": "switch", "lines": []}, {"name": "nvsw", "kind": "switch", "lines": []},
              *({"name": f"gpu{i}", "kind": "gpu", "lines": ["k"]} for i in range(4))],
    "links": [*both("host", "plx0", 24e9), *both("host", "plx1", 24e9), *both("plx0", "gpu0", 12e9),
              *both("plx0", "gpu1", 12e9), *both("plx1", "gpu2", 12e9), *both("plx1", "gpu3", 12e9),
              *both("gpu0", "nvsw", 450e9), *both("gpu3", "nvsw", 450e9)],
    "groups": [{"name": "host memory", "bound": "40 GB/s", "links": ["host->plx0", "host->plx1"]}],
}


class Layout(unittest.TestCase):
    def test_hosts_are_above_switches_above_gpus_above_what_joins_only_gpus(self):
        where = layout(MACHINE)
        rows = [where[name][1] for name in ("host", "plx0", "gpu0", "nvsw")]
        self.assertEqual(rows, sorted(rows, reverse=True))
        self.assertEqual(len(set(rows)), 4)

    def test_switches_stand_over_the_middle_of_their_gpus(self):
        where = layout(MACHINE)
        self.assertEqual((where["plx0"][0], where["plx1"][0], where["host"][0]), (0.5, 2.5, 1.5))


    def test_machines_without_gpus_or_links_stand_somewhere(self):
        for vertices in (MACHINE["vertices"][:1], MACHINE["vertices"][:4]):
            self.assertEqual(len(layout({**MACHINE, "vertices": vertices, "links": [], "groups": []})), len(vertices))


class Use(Folder):
    def test_a_summary_gives_the_share_of_each_link(self):
        path = self.write(json.dumps({"links": [{"name": "host->plx0", "utilisation": 0.5}]}), "use.json")
        self.assertEqual(link_use(MACHINE, path), {"host->plx0": 0.5})

    def test_a_timeline_counts_the_part_of_a_copy_that_crosses_a_link(self):
        machine = {**MACHINE, "links": [*both("host", "pcie", 24e9), *both("pcie", "gpu0", 12e9)]}
        row = sample.ROWS[0].replace("host->pcie;", "host->pcie 1/4;").replace(",1000,", ",12000000,")
        use = link_use(machine, self.write(sample.csv_text([row])))
        self.assertEqual({name: round(share, 9) for name, share in use.items()}, {"host->pcie": 0.125, "pcie->gpu0": 1})

    def test_a_share_is_from_0_to_1(self):
        for use in ("NaN", "-5", "1.5", "Infinity"):
            with self.assertRaisesRegex(TimelineError, "link 'host->plx0': utilisation .* expected 0 to 1"):
                link_use(MACHINE, self.write(f'{{"links": [{{"name": "host->plx0", "utilisation": {use}}}]}}', "use.json"))

    def test_a_result_of_another_machine_is_refused(self):
        path = self.write(json.dumps({"links": [{"name": "a->b", "utilisation": 0.5}]}), "use.json")
        with self.assertRaisesRegex(TimelineError, "link 'a->b' is not in tree"):
            link_use(MACHINE, path)
        with self.assertRaisesRegex(TimelineError, "is not in tree"):
            link_use(MACHINE, self.write(sample.csv_text()))

    def test_what_is_no_result_is_refused(self):
        for text in ("", "[]", "{}", '{"links": [3]}', '{"links": [{"name": "a->b", "utilisation": "much"}]}'):
            with self.assertRaisesRegex(TimelineError, "is not a result"):
                link_use(MACHINE, self.write(text, "use.json"))
        with self.assertRaisesRegex(TimelineError, "cannot read"):
            link_use(MACHINE, os.path.join(self.folder, "no.json"))


@unittest.skipIf(matplotlib is None, "matplotlib is missing")
class Drawing(unittest.TestCase):
    def texts(self, use=None):
        ax = draw(MACHINE, Figure().add_subplot(), use)
        self.assertEqual(sum(isinstance(patch, FancyBboxPatch) for patch in ax.patches), len(MACHINE["vertices"]))
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        self.assertEqual(legend, ["host memory: 40 GB/s"])
        return [text.get_text() for text in ax.texts]

    def test_every_node_has_a_box_and_every_link_its_rate(self):
        texts = self.texts()
        self.assertEqual(texts.count("24"), 2)
        self.assertEqual(texts.count("450"), 2)
        self.assertIn("gpu3\nk", texts)

    def test_names_are_no_mathematics(self):
        machine = json.loads(json.dumps(MACHINE).replace("gpu0", "g$p$u").replace("host memory", "h$m$"))
        figure = Figure()
        draw({**machine, "name": "t$r$ee"}, figure.add_subplot())
        texts = " ".join(shown(figure))
        for name in ("g$p$u", "h$m$", "t$r$ee"):
            self.assertIn(name, texts)

    def test_used_links_say_how_much(self):
        self.assertIn("24\n50%", self.texts({"host->plx0": 0.5}))


if __name__ == "__main__":
    unittest.main()
