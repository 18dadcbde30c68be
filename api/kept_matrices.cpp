#include "api/kept_matrices.hpp"

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail::api {
namespace {

uintptr_t address(const void* data) { return reinterpret_cast<uintptr_t>(data); }

bool meet(int64_t begin, int64_t size, int64_t other, int64_t other_size) {
  return begin < other + other_size && other < begin + size;
}

/// Whether two blocks have a common element. Blocks of one array can interleave without
/// sharing an element.
bool share_elements(const Matrix& x, const Matrix& y) {
  if (address(y.data) < address(x.data)) return share_elements(y, x);
  const auto apart = int64_t(address(y.data) - address(x.data));
  if (apart >= x.bytes()) return false;
  const bool of_one_array =
      x.ld == y.ld && x.element == y.element && apart % x.element == 0;
  const int64_t row = apart / x.element % x.ld, col = apart / x.element / x.ld;
  if (!of_one_array || row + y.rows > x.ld) return true;
  return meet(0, x.rows, row, y.rows) && meet(0, x.cols, col, y.cols);
}

}  // namespace

void KeptMatrices::drop(const Matrix& matrix) {
  std::erase_if(kept_, [&](const KeptMatrix& kept) {
    return share_elements(kept.original, matrix);
  });
}

void KeptMatrices::add(const Matrix& matrix, int64_t ld, std::span<const MemoryId> gpus,
                       std::vector<std::shared_ptr<void>> copies) {
  drop(matrix);
  KeptMatrix kept{matrix, ld, {}};
  for (const auto i : indices(gpus))
    kept.copies.push_back({gpus[i], std::move(copies[i])});
  kept_.push_back(std::move(kept));
}

void KeptMatrices::release(const void* data) {
  if (std::erase_if(
          kept_, [&](const KeptMatrix& kept) { return kept.original.data == data; }) == 0)
    throw fault_of("matrix to release", "is not kept");
}

std::optional<KeptMatrices::Part> KeptMatrices::part(
    const Matrix& matrix, std::span<const MemoryId> gpus) const {
  for (const KeptMatrix& kept : kept_) {
    const Matrix& whole = kept.original;
    if (matrix.element != whole.element || address(matrix.data) < address(whole.data))
      continue;
    if (matrix.ld != whole.ld && matrix.cols > 1) continue;
    const auto bytes = int64_t(address(matrix.data) - address(whole.data));
    const int64_t first = bytes / whole.element, row = first % whole.ld,
                  col = first / whole.ld;
    if (bytes % whole.element != 0 || row + matrix.rows > whole.rows ||
        col + matrix.cols > whole.cols)
      continue;
    Part part{kept.ld, {}};
    for (const MemoryId gpu : gpus) {
      const auto copy = std::ranges::find(kept.copies, gpu, &KeptMatrix::Replica::gpu);
      if (copy == kept.copies.end()) break;
      part.copies.push_back({gpu, static_cast<std::byte*>(copy->data.get()) +
                                      (row + col * kept.ld) * whole.element});
    }
    if (part.copies.size() == gpus.size()) return part;
  }
  return std::nullopt;
}

std::optional<tilerail::Matrices::Copy> KeptMatrices::Part::on(MemoryId gpu) const {
  const auto copy = std::ranges::find(copies, gpu, &tilerail::Matrices::Copy::gpu);
  return copy == copies.end() ? std::nullopt : std::optional{*copy};
}

bool KeptMatrices::overlaps(const Matrix& matrix) const {
  return std::ranges::any_of(kept_, [&](const KeptMatrix& kept) {
    return share_elements(kept.original, matrix);
  });
}

}  // namespace tilerail::api
