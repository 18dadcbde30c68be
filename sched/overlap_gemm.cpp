#include "sched/overlap_gemm.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tilerail {
namespace {

using Flow = std::pair<MemoryId, MemoryId>;

TransferTime transfer_time(const Topology& topology, MemoryId src, MemoryId dst) {
  const std::array both{Flow{src, dst}, Flow{dst, src}};
  const double alone = topology.pair_rate(src, dst).value;
  return {topology.latency(src, dst).value, 1 / alone, alone / concurrent_rates(topology, both)[0].value};
}

}  // namespace

OverlapProblem overlap_problem(const GemmProblem& p, const Topology& topology, MemoryId gpu,
                               const HostTransfers& measured) {
  const auto from = [&](MemoryId src) {
    return measured.in && topology.is_host(src) ? *measured.in : transfer_time(topology, src, gpu);
  };
  const auto to = [&](MemoryId dst) {
    return measured.out && topology.is_host(dst) ? *measured.out : transfer_time(topology, gpu, dst);
  };
  const MemoryId host = topology.hosts().front();
  const KernelTimes& kernels = topology.kernels_of(gpu);
  const auto kernel = [&kernels, p](double m, double n, double k) {
    const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
    return kernels.gemm_time(whole(m), whole(n), whole(k), p.dtype, p.trans_a, p.trans_b).value;
  };
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const auto operand = [&](double rows, double cols, MemoryId place, bool read, bool written) {
    OverlapOperand o{rows, cols, read && place != gpu, written && place != gpu};
    if (place != gpu) o.in = from(place), o.out = to(place);
    return o;
  };
  OverlapProblem problem;
  problem.dims = {m, n, k};
  problem.operands = {operand(m, k, p.place_a, true, false), operand(k, n, p.place_b, true, false),
                      operand(m, n, p.place_c, p.beta != 0, true)};
  problem.element = static_cast<double>(element_size(p.dtype));
  problem.h2d = from(host), problem.d2h = to(host);
  problem.kernel = [=](double tile) { return kernel(std::min(tile, m), std::min(tile, n), std::min(tile, k)); };
  problem.whole_kernel = kernel(m, n, k);
  return problem;
}

std::vector<std::int64_t> overlap_tiles(const GemmProblem& p, std::int64_t largest) {
  constexpr std::int64_t step = 256;
  const std::int64_t least = std::max<std::int64_t>(1, std::min({p.m, p.n, p.k, largest}));
  std::vector<std::int64_t> tiles;
  for (std::int64_t tile = step; tile <= least; tile += step) tiles.push_back(tile);
  if (tiles.empty()) tiles.push_back(least);
  return tiles;
}

}  // namespace tilerail
