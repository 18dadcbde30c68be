#include "sched/emulation/overlap_gemm.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "cost/kernel_costs.hpp"
#include "model/machine/concurrent_rates.hpp"

namespace tilerail {
namespace {

using Flow = std::pair<MemoryId, MemoryId>;

TransferTime transfer_time(const Topology& topology, MemoryId src, MemoryId dst) {
  const std::array both{Flow{src, dst}, Flow{dst, src}};
  const Rate alone = topology.pair_rate(src, dst);
  const bool both_ways = topology.has_route(dst, src);
  return {topology.latency(src, dst), inverse(alone), both_ways ? alone / concurrent_rates(topology, both)[0] : 1};
}

/// Between the GPU and other memories. Where there is no route, tiles come over other memories; the models, which know
/// of none, take it for one of a host.
struct Transfers {
  const Topology& topology;
  MemoryId gpu;
  const HostTransfers& measured;

  TransferTime from(MemoryId memory) const {
    const MemoryId src = joined(memory, [&](MemoryId other) { return topology.has_route(other, gpu); });
    return measured.in && topology.is_host(src) ? *measured.in : transfer_time(topology, src, gpu);
  }
  TransferTime to(MemoryId memory) const {
    const MemoryId dst = joined(memory, [&](MemoryId other) { return topology.has_route(gpu, other); });
    return measured.out && topology.is_host(dst) ? *measured.out : transfer_time(topology, gpu, dst);
  }

  /// The memory, or a host where it has no route.
  MemoryId joined(MemoryId memory, const std::function<bool(MemoryId)>& has_route) const {
    const auto& hosts = topology.hosts();
    const auto host = has_route(memory) ? hosts.end() : std::ranges::find_if(hosts, has_route);
    return host == hosts.end() ? memory : *host;
  }
};

/// What the routine has, in the order of A, B and C; a vector has no columns.
std::vector<OverlapOperand> operands_of(const GemmProblem& p, const Transfers& transfers) {
  const auto operand = [&](int64_t rows, int64_t cols, MemoryId place, bool read, bool written, unsigned along) {
    const bool is_vector = p.routine != Routine::gemm && cols == 1;
    const bool away = !transfers.topology.has_all_of(place, transfers.gpu);
    OverlapOperand o{double(rows), is_vector ? 0 : double(cols), read && away, written && away};
    if (away) o.in = transfers.from(place), o.out = transfers.to(place);
    o.along = along;
    return o;
  };
  const auto c = [&](unsigned along) { return operand(p.m, p.n, p.place_c, p.beta != 0, true, along); };
  switch (p.routine) {
    case Routine::gemm: {
      constexpr unsigned m = 1, n = 2, k = 4;
      return {operand(p.m, p.k, p.place_a, true, false, m | k), operand(p.k, p.n, p.place_b, true, false, n | k),
              c(m | n)};
    }
    case Routine::gemv: {
      constexpr unsigned m = 1, k = 2;
      return {operand(p.m, p.k, p.place_a, true, false, m | k), operand(p.k, p.n, p.place_b, true, false, k), c(m)};
    }
    case Routine::dot:
      return {operand(p.k, 1, p.place_a, true, false, 1), operand(p.k, 1, p.place_b, true, false, 1), c(0)};
    case Routine::axpy:
      return {operand(p.m, 1, p.place_a, true, false, 1), c(1)};
  }
  return {};
}

/// Those along which the routine is cut.
std::vector<double> dims_of(const GemmProblem& p) {
  const auto m = double(p.m), n = double(p.n), k = double(p.k);
  switch (p.routine) {
    case Routine::gemm:
      return {m, n, k};
    case Routine::gemv:
      return {m, k};
    case Routine::dot:
      return {k};
    case Routine::axpy:
      return {m};
  }
  return {};
}

}  // namespace

OverlapProblem overlap_problem(const GemmProblem& p, const Topology& topology, MemoryId gpu,
                               const HostTransfers& measured) {
  const Transfers transfers{topology, gpu, measured};
  const MemoryId host = topology.hosts().front();
  const KernelTimes& kernels = topology.kernels_of(gpu);
  const auto kernel = [&kernels, p](int64_t m, int64_t n, int64_t k) { return product_time(kernels, p, m, n, k); };
  OverlapProblem problem;
  problem.dims = dims_of(p);
  problem.operands = operands_of(p, transfers);
  problem.element = Bytes{double(element_size(p.dtype))};
  problem.h2d = transfers.from(host), problem.d2h = transfers.to(host);
  problem.kernel = [=](double side) {
    const auto tile = int64_t(side);
    return kernel(std::min(tile, p.m), std::min(tile, p.n), std::min(tile, p.k));
  };
  problem.whole_kernel = kernel(p.m, p.n, p.k);
  return problem;
}

std::vector<int64_t> overlap_tiles(const GemmProblem& p, int64_t largest) {
  constexpr int64_t square_step = 256, vector_step = 1 << 18, longest_vector = 1 << 26;  // CoCoPeLia's grids
  const int64_t step = p.of_vectors() ? vector_step : square_step;
  int64_t least = largest, longest = 1;
  for (const double d : dims_of(p)) {
    const auto side = int64_t(d);
    longest = std::max(longest, side);
    if (side >= step) least = std::min(least, side);
  }
  if (longest < step || least < step) return {std::max<int64_t>(1, std::min(longest, largest))};
  if (p.of_vectors()) least = std::min(least, longest_vector);
  std::vector<int64_t> tiles;
  for (int64_t tile = step; tile <= least; tile += step) tiles.push_back(tile);
  return tiles;
}

}  // namespace tilerail
