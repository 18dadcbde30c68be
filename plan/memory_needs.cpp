#include "plan/memory_needs.hpp"

#include <fmt/format.h>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"

namespace tilerail {
namespace {

double matrix_bytes(int64_t rows, int64_t cols, int64_t ld, DType dtype) {
  if (rows == 0 || cols == 0) return 0;
  const double elements = double(cols - 1) * double(ld) + double(rows);
  return elements * double(element_size(dtype));
}

}  // namespace

std::vector<MemoryNeed> memory_needs(const GemmProblem& p, size_t memories) {
  std::vector<MemoryNeed> needs(memories);
  needs[p.place_a.index()].matrices += matrix_bytes(p.rows_a(), p.cols_a(), p.lda, p.dtype);
  if (p.has_b()) needs[p.place_b.index()].matrices += matrix_bytes(p.rows_b(), p.cols_b(), p.ldb, p.dtype);
  needs[p.place_c.index()].matrices += matrix_bytes(p.m, p.n, p.ldc, p.dtype);
  return needs;
}

std::vector<MemoryNeed> memory_needs(const Plan& plan) {
  std::vector<MemoryNeed> needs = memory_needs(plan.problem, plan.memories.size());
  for (const auto i : indices(needs)) needs[i].tiles = double(plan.peak_bytes[i]);
  return needs;
}

std::vector<MemoryNeed> needs_of_parts(std::vector<MemoryNeed> needs, const Topology& topology,
                                       std::span<const MemoryId> devices) {
  for (const auto i : indices(needs)) {
    const Memory& memory = topology.memories()[i];
    const bool copies = memory.pages == Pages::copies;
    for (const MemoryId part : copies ? devices : std::span{memory.over})
      needs[part.index()].matrices += needs[i].matrices / (copies ? 1.0 : double(memory.over.size()));
  }
  return needs;
}

void check_capacities(std::span<const MemoryNeed> given, const Topology& topology, std::span<const MemoryId> devices,
                      std::string_view subject) {
  const std::vector<MemoryNeed> needs = needs_of_parts({given.begin(), given.end()}, topology, devices);
  const bool copied = given.size() > topology.sources() && given.back().matrices > 0;
  for (const auto i : indices(needs)) {
    const Memory& memory = topology.memories()[i];
    if (!memory.capacity || needs[i].total() <= memory.capacity->value) continue;
    throw InputError{
        subject, memory.name,
        fmt::format("has {}, and {} are needed: {} for matrices, {} for tiles", bytes_text(memory.capacity->value),
                    bytes_text(needs[i].total()), bytes_text(needs[i].matrices), bytes_text(needs[i].tiles)),
        copied ? "smaller sizes, other places, or devices without it, each of which has a copy"
               : "smaller sizes or other places"};
  }
}

}  // namespace tilerail
