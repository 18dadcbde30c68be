#include "plan/memory_needs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/base/text.hpp"
#include "plan/builder.hpp"

namespace tilerail {
namespace {

/// Adds bytes in a memory, or in its parts.
void add(MemoryId memory, double bytes, const Topology& topology,
         std::vector<MemoryNeed>& needs) {
  const auto parts = topology.parts_of(memory);
  for (const MemoryId part : parts)
    needs[part.index()].matrices += bytes / double(parts.size());
}

/// A replicated tensor lies on these devices; of another, each memory has the share of
/// its blocks.
void add(const Tensor& tensor, std::span<const MemoryId> devices,
         const Topology& topology, std::vector<MemoryNeed>& needs) {
  const Layout& layout = tensor.layout;
  if (layout.is_whole() || layout.is_replicated()) {
    for (const MemoryId memory : layout.is_whole() ? layout.members() : devices)
      add(memory, tensor.bytes(), topology, needs);
    return;
  }
  const double per_element =
      tensor.bytes() / std::max(1.0, double(tensor.rows) * double(tensor.cols));
  for (size_t replica = 0; replica < layout.replicas(); ++replica)
    for (const MatrixBlock& b : layout.blocks(tensor.rows, tensor.cols, replica))
      add(b.memory, per_element * double(b.rows) * double(b.cols), topology, needs);
}

}  // namespace

std::vector<MemoryNeed> memory_needs(std::span<const Tensor> tensors,
                                     std::span<const MemoryId> devices,
                                     const Topology& topology) {
  std::vector<MemoryNeed> needs(topology.memories().size());
  for (const Tensor& tensor : tensors) add(tensor, devices, topology, needs);
  return needs;
}

std::vector<MemoryNeed> memory_needs(const Plan& plan, const Topology& topology) {
  std::vector<MemoryNeed> needs = memory_needs(plan.tensors, plan.devices, topology);
  for (const auto i : indices(needs)) needs[i].tiles = double(plan.peak_bytes[i]);
  return needs;
}

void check_capacities(std::span<const MemoryNeed> needs, const Topology& topology,
                      std::string_view subject) {
  for (const auto i : indices(needs)) {
    const auto& [matrices, tiles] = needs[i];
    const Memory& memory = topology.memories()[i];
    if (!memory.capacity || matrices + tiles <= memory.capacity->value) continue;
    const std::string fault =
        fmt::format("has {}, and {} are needed: {} for matrices, {} for tiles",
                    bytes_text(memory.capacity->value), bytes_text(matrices + tiles),
                    bytes_text(matrices), bytes_text(tiles));
    throw InfeasibleError{subject, memory.name, fault, "smaller sizes or other places"};
  }
}

}  // namespace tilerail
