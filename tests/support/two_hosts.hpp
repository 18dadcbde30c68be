// A machine with two sockets, for matrices in both host memories.
#pragma once

#include "tests/support/small_machine.hpp"

namespace tilerail::small_machine {

/// h0 -20- s0 -25- g0, h1 -20- s1 -25- g1, s0 -8- s1, in GB/s and both directions. Links
/// are numbered in this order, h0->s0, s0->h0, s0->g0, ...
inline Topology::Description two_hosts() {
  auto d = unlinked("h0", "g", 2, {"s0", "s1"});
  add_host(d, "h1");
  d.kernels[0].gemm = {gemms(DType::f64, {{1024, 1}})};
  add_links(d, "h0", "s0", 20), add_links(d, "s0", "g0", 25);
  add_links(d, "h1", "s1", 20), add_links(d, "s1", "g1", 25);
  add_links(d, "s0", "s1", 8);
  return d;
}

}  // namespace tilerail::small_machine
