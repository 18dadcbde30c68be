#include "api/kept_matrices.hpp"

#include <algorithm>

#include "model/base/error.hpp"
#include "sched/tasks/arena.hpp"

namespace tilerail::api {
namespace {

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

void KeptMatrices::keep(Hardware& hardware, const Matrix& matrix, std::span<const MemoryId> gpus) {
  std::erase_if(kept_, [&](const Kept& kept) { return kept.original.data == matrix.data; });
  Kept kept{matrix, Arena::leading(matrix.rows, matrix.element), {}};  // as tiles have
  for (const MemoryId gpu : gpus) kept.copies.push_back({gpu, hardware.copy_to(gpu, matrix, kept.ld)});
  kept_.push_back(std::move(kept));
}

void KeptMatrices::release(const void* data) {
  if (std::erase_if(kept_, [&](const Kept& kept) { return kept.original.data == data; }) == 0)
    throw InputError{"matrix to release: this address was not kept"};
}

std::optional<KeptMatrices::Part> KeptMatrices::part(const Matrix& matrix, std::span<const MemoryId> gpus) const {
  for (const Kept& kept : kept_) {
    const Matrix& whole = kept.original;
    if (matrix.element != whole.element || address(matrix.data) < address(whole.data)) continue;
    if (matrix.ld != whole.ld && matrix.cols > 1) continue;
    const auto bytes = static_cast<std::int64_t>(address(matrix.data) - address(whole.data));
    const std::int64_t first = bytes / whole.element, row = first % whole.ld, col = first / whole.ld;
    if (bytes % whole.element != 0 || row + matrix.rows > whole.rows || col + matrix.cols > whole.cols) continue;
    Part part{kept.ld, {}};
    for (const MemoryId gpu : gpus) {
      const auto copy = std::ranges::find(kept.copies, gpu, &Kept::Owned::gpu);
      if (copy == kept.copies.end()) break;
      part.copies.push_back({gpu, static_cast<std::byte*>(copy->data.get()) + (row + col * kept.ld) * whole.element});
    }
    if (part.copies.size() == gpus.size()) return part;
  }
  return std::nullopt;
}

bool KeptMatrices::overlaps(const Matrix& matrix) const {
  return std::ranges::any_of(kept_, [&](const Kept& kept) {
    const Matrix& whole = kept.original;
    return address(matrix.data) < address(whole.data) + static_cast<std::uintptr_t>(whole.bytes()) &&
           address(whole.data) < address(matrix.data) + static_cast<std::uintptr_t>(matrix.bytes());
  });
}

}  // namespace tilerail::api
