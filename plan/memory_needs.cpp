#include "plan/memory_needs.hpp"

#include <fmt/format.h>

#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/base/text.hpp"
#include "plan/builder.hpp"

namespace tilerail {
namespace {

double bytes_of(const Buffer& matrix) {
  if (matrix.rows == 0 || matrix.cols == 0) return 0;
  const double elements =
      double(matrix.cols - 1) * double(matrix.ld) + double(matrix.rows);
  return elements * double(matrix.element());
}

}  // namespace

std::vector<MemoryNeed> memory_needs(const GemmProblem& problem, size_t memories) {
  std::vector<MemoryNeed> needs(memories);
  for (const Buffer::Kind kind :
       {Buffer::Kind::matrix_a, Buffer::Kind::matrix_b, Buffer::Kind::matrix_c}) {
    const Buffer matrix = matrix_buffer(problem, kind);
    if (kind != Buffer::Kind::matrix_b || problem.has_b())
      needs[matrix.memory.index()].matrices += bytes_of(matrix);
  }
  return needs;
}

std::vector<MemoryNeed> memory_needs(const Plan& plan) {
  std::vector<MemoryNeed> needs = memory_needs(plan.problem, plan.memories.size());
  for (const auto i : indices(needs)) needs[i].tiles = double(plan.peak_bytes[i]);
  return needs;
}

std::vector<MemoryNeed> needs_of_parts(std::vector<MemoryNeed> needs,
                                       const Topology& topology,
                                       std::span<const MemoryId> devices) {
  for (const auto i : indices(needs)) {
    const Memory& memory = topology.memories()[i];
    const bool copies = memory.pages == Pages::copies;
    for (const MemoryId part : copies ? devices : std::span{memory.over})
      needs[part.index()].matrices +=
          needs[i].matrices / (copies ? 1.0 : double(memory.over.size()));
  }
  return needs;
}

void check_capacities(std::span<const MemoryNeed> given, const Topology& topology,
                      std::span<const MemoryId> devices, std::string_view subject) {
  const std::vector<MemoryNeed> needs =
      needs_of_parts({given.begin(), given.end()}, topology, devices);
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
