#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// What a GPU gets from and gives to the host that is nearest to it: the one that 16 MiB
/// come from first.
struct NearestHost {
  MemoryId gpu, host;
  Rate in_alone{0}, out_alone{0};  // with nothing else running
  Rate in_both{0}, out_both{0};  // with the copy in the other direction, of the same GPU
  Rate in_all{0},
      out_all{0};  // while all GPUs copy in this direction, each with its own host
  Rate in_all_both{0}, out_all_both{0};  // while all copy in both directions
};

/// Pairs of a GPU and a host that are searched.
inline constexpr size_t most_near_pairs = size_t{1} << 20;

/// By GPU number; empty where there are more pairs than that; without GPUs that no single
/// host both reaches and is reached from. Time: GPUs x hosts, and that of filling all
/// copies progressively (concurrent_rates).
std::vector<NearestHost> nearest_hosts(const Topology& topology);

/// The GPUs in two halves by number, each GPU of the first with its partner of the
/// second; all copy at once.
struct Bisection {
  size_t pairs = 0;
  Rate forward{0},
      backward{0};  // sums of the copies from the first half, and to it, each alone
  Rate both{0};     // of both directions at once
};
/// Absent with fewer than two GPUs, or where a pair has no route.
std::optional<Bisection> bisection(const Topology& topology);

/// Whether every two GPUs copy to each other over links of their own, NVLinks say: over
/// none that a copy between one of them and a host takes. Time: pairs of GPUs, until the
/// first that does not.
bool gpus_have_own_links(const Topology& topology);

}  // namespace tilerail
