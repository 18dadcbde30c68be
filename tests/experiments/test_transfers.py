"""Transfers of whole tiles in a timeline."""

import unittest

import harness
from tilerail.timeline import Queue, Timeline

SIDE = 64
TILE = 8 * SIDE * SIDE


def timeline(*copies):
    """A timeline of (src, dst, label, bytes), one second each, two seconds apart."""
    metadata = {"hosts": "host", "devices": "gpu0;gpu1;gpu2"}
    made = Timeline(metadata)
    for number, (src, dst, label, moved) in enumerate(copies):
        made.queues.append(Queue(f"{src}->{dst}", src, src, dst, (), ()))
        made.queue.append(number)
        made.kind.append("copy")
        made.bytes.append(moved)
        made.label.append(label)
        made.start.append(2.0 * number)
        made.end.append(2.0 * number + 1)
    return made


def found(*copies):
    return [(each.tile, each.pairs, each.bytes, each.start, each.end)
            for each in harness.transfers(timeline(*copies), SIDE)]


class Transfers(unittest.TestCase):
    A = "A[64:128,0:64]"

    def test_pieces_of_a_tile_are_one(self):
        self.assertEqual(found(("host", "gpu0", "A[64:128,0:32]", TILE // 2),
                               ("host", "gpu0", "A[64:128,32:64]", TILE // 2)),
                         [(("A", 1, 0), [("host", "gpu0")], TILE, 0.0, 3.0)])

    def test_a_tile_that_comes_twice_is_two(self):
        self.assertEqual(len(found(("host", "gpu0", self.A, TILE), ("host", "gpu0", self.A, TILE))), 2)

    def test_over_a_buffer_of_a_host_it_goes_from_gpu_to_gpu(self):
        self.assertEqual(found(("gpu0", "host", self.A, TILE), ("host", "gpu1", self.A, TILE)),
                         [(("A", 1, 0), [("gpu0", "gpu1")], TILE, 0.0, 3.0)])
        halves = [(src, dst, f"A[0:64,{at}:{at + 32}]", TILE // 2) for at in (0, 32)
                  for src, dst in (("gpu0", "host"), ("host", "gpu1"))]
        self.assertEqual(found(*halves), [(("A", 0, 0), [("gpu0", "gpu1")], TILE, 0.0, 7.0)])
        # A copy of C to the host and the next copy of A from the host are separate transfers.
        self.assertEqual(len(found(("gpu0", "host", "C[0:64,0:64]", TILE), ("host", "gpu1", self.A, TILE))), 2)

    def test_hops_in_pieces_and_those_of_c_are_one_route(self):
        halves = [f"A[0:64,{begin}:{begin + 32}]" for begin in (0, 32)]
        self.assertEqual(found(*[(src, dst, half, TILE // 2) for src, dst in (("gpu0", "gpu1"), ("gpu1", "gpu2"))
                                 for half in halves]),
                         [(("A", 0, 0), [("gpu0", "gpu1"), ("gpu1", "gpu2")], TILE, 0.0, 7.0)])
        c = "C[0:64,0:64]"
        self.assertEqual([pairs for _, pairs, *_ in found(("gpu0", "gpu1", c, TILE), ("gpu1", "gpu2", c, TILE))],
                         [[("gpu0", "gpu1"), ("gpu1", "gpu2")]])

    def test_what_another_gpu_forwards_whole_is_a_transfer_of_its_own(self):
        self.assertEqual(len(found(("gpu0", "gpu1", self.A, TILE), ("gpu1", "gpu2", self.A, TILE))), 2)

    def test_copies_within_a_gpu_do_not_count(self):
        self.assertEqual(found(("gpu0", "gpu0", self.A, TILE)), [])

    def test_a_label_of_no_matrix_is_refused(self):
        with self.assertRaisesRegex(harness.Failure, "operation 0 of the timeline: '' is not a part of a matrix"):
            found(("gpu0", "gpu1", "", TILE))


if __name__ == "__main__":
    unittest.main()
