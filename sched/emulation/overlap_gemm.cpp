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
  return {topology.latency(src, dst), inverse(alone),
          both_ways ? alone / concurrent_rates(topology, both)[0] : 1};
}

/// Transfers between the GPU and the slowest home of a matrix. Without a route, tiles go
/// over other memories; the models do not cover this and assume a route of a host.
struct Transfers {
  const Topology& topology;
  MemoryId gpu;

  TransferTime from(const Layout& place) const {
    return slowest(place, [&](MemoryId other) { return Flow{other, gpu}; });
  }
  TransferTime to(const Layout& place) const {
    return slowest(place, [&](MemoryId other) { return Flow{gpu, other}; });
  }

 private:
  TransferTime slowest(const Layout& place,
                       const std::function<Flow(MemoryId)>& flow) const {
    TransferTime slowest = time(place.home(), flow);
    for (const MemoryId home : place.members())
      if (const TransferTime other = time(home, flow); other.per_byte > slowest.per_byte)
        slowest = other;
    return slowest;
  }
  TransferTime time(MemoryId memory, const std::function<Flow(MemoryId)>& flow) const {
    const auto has_route = [&](const Flow& between) {
      return topology.has_route(between.first, between.second);
    };
    const auto host = std::ranges::find_if(topology.hosts(), has_route, flow);
    const bool straight = has_route(flow(memory)) || host == topology.hosts().end();
    const auto [src, dst] = flow(straight ? memory : *host);
    return transfer_time(topology, src, dst);
  }
};

/// The dimensions along which the routine is cut, and the bits of m, n and k in operands.
struct Dimensions {
  std::vector<double> sizes;
  unsigned m = 0, n = 0, k = 0;

  explicit Dimensions(const GemmProblem& p) {
    if (p.routine != Routine::dot) m = bit_of(p.m);
    if (p.routine == Routine::gemm) n = bit_of(p.n);
    if (p.routine != Routine::axpy) k = bit_of(p.k);
  }

 private:
  unsigned bit_of(int64_t size) {
    sizes.push_back(double(size));
    return 1U << (sizes.size() - 1);
  }
};

/// The routine's operands, in the order of A, B and C; a vector has no columns.
std::vector<OverlapOperand> operands_of(const GemmProblem& p,
                                        const Transfers& transfers) {
  const auto operand = [&](int64_t rows, int64_t cols, const Layout& place, bool read,
                           bool written, unsigned along) {
    const bool is_vector = p.routine != Routine::gemm && cols == 1;
    const bool away = !place.has_all_in(transfers.gpu);
    OverlapOperand o{double(rows), is_vector ? 0 : double(cols), read && away,
                     written && away};
    if (away) o.in = transfers.from(place), o.out = transfers.to(place);
    o.along = along;
    return o;
  };
  const Dimensions d{p};
  const auto [rows, cols] =
      p.routine == Routine::dot ? std::pair{p.k, p.m} : std::pair{p.m, p.k};
  std::vector<OverlapOperand> operands{
      operand(rows, cols, p.place_a, true, false, d.m | d.k)};
  if (p.has_b()) operands.push_back(operand(p.k, p.n, p.place_b, true, false, d.k | d.n));
  operands.push_back(operand(p.m, p.n, p.place_c, p.beta != 0, true, d.m | d.n));
  return operands;
}

}  // namespace

OverlapProblem overlap_problem(const GemmProblem& p, const Topology& topology,
                               MemoryId gpu) {
  const Transfers transfers{topology, gpu};
  const MemoryId host = topology.hosts().front();
  const KernelTimes& kernels = topology.kernels_of(gpu);
  const auto kernel = [&kernels, p](int64_t m, int64_t n, int64_t k) {
    return product_time(kernels, p, m, n, k);
  };
  OverlapProblem problem;
  problem.dims = Dimensions{p}.sizes;
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
  constexpr int64_t square_step = 256, vector_step = 1 << 18,
                    longest_vector = 1 << 26;  // CoCoPeLia's tile grids
  const int64_t step = p.of_vectors() ? vector_step : square_step;
  int64_t least = largest, longest = 1;
  for (const double d : Dimensions{p}.sizes) {
    const auto side = int64_t(d);
    longest = std::max(longest, side);
    if (side >= step) least = std::min(least, side);
  }
  if (longest < step || least < step)
    return {std::max<int64_t>(1, std::min(longest, largest))};
  if (p.of_vectors()) least = std::min(least, longest_vector);
  std::vector<int64_t> tiles;
  for (int64_t tile = step; tile <= least; tile += step) tiles.push_back(tile);
  return tiles;
}

}  // namespace tilerail
