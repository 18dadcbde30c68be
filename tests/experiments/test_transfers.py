"""Transfers of whole tiles in a timeline."""

import unittest

import pandas

from tilerail.experiments.clx_ai_link_map import TILE, TILE_BYTES, transfers

HALF = TILE // 2
A, C = f"A[{TILE}:{2 * TILE},0:{TILE}]", f"C[0:{TILE},0:{TILE}]"
HALVES = [f"A[0:{TILE},{begin}:{begin + HALF}]" for begin in (0, HALF)]


def found(*copies):
    """From (src, dst, label, bytes), one second each, two seconds apart: tile, pairs, bytes, start and end."""
    rows = pandas.DataFrame(copies, columns=["src", "dst", "label", "bytes"]).assign(
        kind="copy", start_s=[2.0 * at for at in range(len(copies))], end_s=[2.0 * at + 1 for at in range(len(copies))])
    return [((each["matrix"], each["line"], each["column"]), each["pairs"], each["bytes"], each["start"], each["end"])
            for each in transfers(rows)]


class Transfers(unittest.TestCase):
    def test_pieces_of_a_tile_are_one(self):
        self.assertEqual(found(*(("host", "gpu0", half, TILE_BYTES // 2) for half in HALVES)),
                         [(("A", 0, 0), [("host", "gpu0")], TILE_BYTES, 0.0, 3.0)])

    def test_a_tile_that_comes_twice_is_two(self):
        self.assertEqual(len(found(*[("host", "gpu0", A, TILE_BYTES)] * 2)), 2)

    def test_over_a_buffer_of_a_host_it_goes_from_gpu_to_gpu(self):
        self.assertEqual(found(("gpu0", "host", A, TILE_BYTES), ("host", "gpu1", A, TILE_BYTES)),
                         [(("A", 1, 0), [("gpu0", "gpu1")], TILE_BYTES, 0.0, 3.0)])
        # A copy of C to the host and the next copy of A from the host are separate transfers.
        self.assertEqual(len(found(("gpu0", "host", C, TILE_BYTES), ("host", "gpu1", A, TILE_BYTES))), 2)

    def test_hops_in_pieces_and_those_of_c_are_one_route(self):
        hops = [(src, dst, half, TILE_BYTES // 2)
                for src, dst in (("gpu0", "gpu1"), ("gpu1", "gpu2")) for half in HALVES]
        self.assertEqual(found(*hops), [(("A", 0, 0), [("gpu0", "gpu1"), ("gpu1", "gpu2")], TILE_BYTES, 0.0, 7.0)])
        routes = found(("gpu0", "gpu1", C, TILE_BYTES), ("gpu1", "gpu2", C, TILE_BYTES))
        self.assertEqual([pairs for _, pairs, *_ in routes], [[("gpu0", "gpu1"), ("gpu1", "gpu2")]])

    def test_a_tile_of_a_that_another_gpu_forwards_whole_is_a_transfer_of_its_own(self):
        self.assertEqual(len(found(("gpu0", "gpu1", A, TILE_BYTES), ("gpu1", "gpu2", A, TILE_BYTES))), 2)


if __name__ == "__main__":
    unittest.main()
