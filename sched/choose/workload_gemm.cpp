#include "sched/choose/workload_gemm.hpp"

#include <algorithm>

#include "cost/energy.hpp"
#include "model/base/extents.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/policy/emulation.hpp"

namespace tilerail {

WorkloadProblem workload_problem(const GemmProblem& p, const Topology& topology,
                                 std::span<const MemoryId> devices, int64_t tile,
                                 int max_hops) {
  const Bytes element{double(element_size(p.dtype))};
  const auto bytes = [&](int64_t rows, int64_t cols) {
    return element * double(rows * cols);
  };
  WorkloadProblem w;
  const auto add = [&](const Layout& place, Bytes size, bool is_read, bool is_written) {
    if (place.is_replicated()) return;
    for (const MemoryId home : place.members())
      w.operands.push_back(
          {home, size / double(place.members().size()), is_read, is_written});
  };
  add(p.place_a, bytes(p.m, p.k), true, false);
  add(p.place_b, bytes(p.rows_b(), p.cols_b()), true, false);
  add(p.place_c, bytes(p.m, p.n), p.beta != 0, true);
  w.flops = p.flops();
  w.devices.assign(devices.begin(), devices.end());
  const int64_t m = std::min(tile, p.m), n = std::min(tile, p.n), k = std::min(tile, p.k);
  const double kernels = p.flops().value / (2.0 * double(m) * double(n) * double(k));
  for (const MemoryId device : devices) {
    const KernelTimes& times = topology.kernels_of(device);
    w.exec_times.push_back(kernels *
                           times.gemm_time(m, n, k, p.dtype, p.trans_a, p.trans_b));
    if (const auto watts = device_watts(p, topology, device))
      w.watts.push_back(watts->sustained());
  }
  if (w.watts.size() < devices.size()) w.watts.clear();
  const auto side = double(tile);
  w.tile_bytes = element * side * (p.of_vectors() ? 1 : side);
  w.max_hops = max_hops;
  return w;
}

namespace {

/// Factors by which PARALiA's library lengthens the time of a GEMM on 1, 2, ... devices.
/// Source: its public code; it names the first two, and published predictions for six
/// and seven GPUs have this value of the second.
std::vector<double> library_factors(const Question& q) {
  constexpr double ragged = 0.1, uneven = 0.1, idle_devices = 1e6;
  const GemmProblem& p = q.problem;
  std::vector<double> factors;
  for (size_t count = 1; count <= q.devices.size(); ++count) {
    const int64_t tile = unsearched_tile(q.on(q.devices.first(count)));
    const int64_t results = ceil_div(p.m, tile) * ceil_div(p.n, tile);
    double factor = 1;
    for (const int64_t size : {p.m, p.n, p.k})
      if (size % tile != 0) factor += ragged;
    if (results * ceil_div(p.k, tile) % int64_t(count) != 0) factor *= 1 + uneven;
    if (results < int64_t(count)) factor *= idle_devices;
    factors.push_back(factor);
  }
  return factors;
}

}  // namespace

WorkloadProblem workload_problem(const Question& q) {
  constexpr int64_t least = 256;  // the least kernel that the library measures
  const GemmProblem& p = q.problem;
  const bool as_library =
      emulation_of(q.policy.choices).predicts_as_library() && p.routine == Routine::gemm;
  WorkloadProblem w = workload_problem(
      p, q.topology, q.devices,
      as_library ? std::max(least, std::min({p.m, p.n, p.k})) : unsearched_tile(q),
      q.policy.choices.routing == Routing::link_map ? q.policy.choices.max_hops : 0);
  w.hop_rule = q.policy.choices.hop_rule;
  if (as_library) w.library_factors = library_factors(q);
  return w;
}

}  // namespace tilerail
