#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Rates of a GPU with its nearest host: the host with the fastest copy of 16 MiB.
struct NearestHost {
  MemoryId gpu, host;
  Rate in_alone{0}, out_alone{0};  // without other copies
  Rate in_both{0}, out_both{0};    // with the opposite copy of the same GPU
  Rate in_all{0},
      out_all{0};  // while all GPUs copy in this direction, each with its nearest host
  Rate in_all_both{0}, out_all_both{0};  // while all GPUs copy in both directions
};

/// Maximum number of GPU-host pairs.
inline constexpr size_t most_near_pairs = size_t{1} << 20;

/// By GPU number. Empty if there are more pairs than most_near_pairs. Omits GPUs without
/// a host that has routes in both directions. Time: GPUs x hosts, plus progressive
/// filling of all copies (concurrent_rates).
std::vector<NearestHost> nearest_hosts(const Topology& topology);

/// The GPUs in two halves by number, each GPU of the first half paired with one of the
/// second; all copy simultaneously.
struct Bisection {
  size_t pairs = 0;
  Rate forward{0},
      backward{0};  // totals of copies from and to the first half, each direction alone
  Rate both{0};     // total of both directions simultaneously
};
/// Absent with fewer than two GPUs, or if a pair has no route.
std::optional<Bisection> bisection(const Topology& topology);

/// Whether all pairs of GPUs have their own links, such as NVLinks: no link is on a route
/// between one of them and a host. Time: pairs of GPUs, until the first without own
/// links.
bool gpus_have_own_links(const Topology& topology);

}  // namespace tilerail
