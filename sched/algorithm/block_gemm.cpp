#include "sched/algorithm/block_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/machine/layout_text.hpp"
#include "plan/memory_needs.hpp"
#include "sched/gemm/gemm_tasks.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {

BlockGemm::BlockGemm(const GemmProblem& given, const Topology& topology,
                     std::span<const MemoryId> gpus, const Layout& layout,
                     const Transport::Options& options, const OwnRank& own)
    : problem{checked(given)},
      topology_{topology},
      plan_{empty_plan(problem, topology)},
      trans_{problem.trans_a, problem.trans_b, Trans::no},
      transport{builder_, options, own} {
  check_devices(topology, gpus);
  check_places(problem, topology, gpus);
  for (const Tensor& tensor : plan_.tensors)
    if (tensor.layout != layout)
      throw InputError{"place", layout_text(tensor.layout, topology),
                       fmt::format("is not a place for {} here", tensor.name),
                       layout_text(layout, topology)};
  std::ranges::copy_if(gpus, std::back_inserter(plan_.devices),
                       [&](MemoryId gpu) { return own.has(gpu); });
  for (const auto i : indices(first_)) first_[i] = builder_.add_tensor(TensorId{i});
}

LocalTile BlockGemm::block(TensorId tensor, IndexRange line, IndexRange other) const {
  if (line.size() == 0 || other.size() == 0) return {};
  if (tensor == tensor_b) std::swap(line, other);
  const size_t i = tensor.index();
  return transport.tile_of(
      builder_.in_block(stored(first_[i], trans_[i], line, other)),
      tensor == tensor_c ? scalar_of(problem.beta, Scalar::beta) : Scalar::one);
}

bool BlockGemm::owns_any(TensorId tensor, IndexRange line) const {
  const bool rows = (tensor != tensor_b) == (trans_[tensor.index()] == Trans::no);
  return std::ranges::any_of(plan_.buffers, [&](const Buffer& b) {
    const int64_t begin = rows ? b.row : b.col, size = rows ? b.rows : b.cols;
    return !b.in_arena && b.tensor == tensor && transport.own.has(b.memory) &&
           begin < line.end && line.begin < begin + size;
  });
}

void BlockGemm::add_product(LocalTile& a, LocalTile& b, LocalTile& c) {
  if (!a.is_zero() && !b.is_zero())
    transport.run({OpKind::gemm, problem.trans_a, problem.trans_b, Scalar::alpha},
                  {&a, &b}, c);
}

void BlockGemm::complete(LocalTile& c) {
  if (c.view.rows > 0 && c.scale != Scalar::one)
    transport.run({.kind = OpKind::axpby, .alpha = Scalar::zero}, {&c}, c);
}

PlanPart BlockGemm::finish(std::string name, int64_t tile) {
  plan_.policy = std::move(name), plan_.tile = tile;
  for (const auto& [gpu, arena] : transport.arenas)
    plan_.peak_bytes[gpu.index()] = arena.peak();
  check_routes(plan_, topology_);
  check_capacities(memory_needs(plan_, topology_), topology_, "place");
  return {std::move(plan_), transport.own};
}

}  // namespace tilerail
