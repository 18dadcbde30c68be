#include "api/cuda/matrix_access.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "api/cuda/pointers.hpp"
#include "model/base/indices.hpp"

namespace tilerail::cuda {
namespace {

api::AddressRange range_of(const api::Matrix& matrix) {
  return api::range_at(matrix.data, matrix.bytes());
}

/// Numbers of registrations by the caller through TileRail are disjoint from the driver's
/// numbers of allocations.
std::optional<uint64_t> id_of(const api::Matrix& matrix) {
  constexpr uint64_t ours = uint64_t{1} << 63;
  if (matrix.location) return allocation_of(matrix.data);
  const auto number = Registrations::of_process().number_of(range_of(matrix));
  return number ? std::optional{ours | *number} : allocation_of(matrix.data);
}

/// Copies the rows of every column; bytes between columns do not change.
void copy_elements(const api::Matrix& shape, const std::byte* from, std::byte* to) {
  for (int64_t col = 0; col < shape.cols; ++col) {
    const int64_t offset = col * shape.ld * shape.element;
    std::memcpy(to + offset, from + offset, size_t(shape.rows * shape.element));
  }
}

}  // namespace

MatrixAccess::MatrixAccess(const api::Matrices& matrices, std::span<const int> users,
                           Pageable pageable)
    : matrices_{matrices} {
  std::vector<size_t> on_host;
  std::vector<api::AddressRange> ranges;
  for (const auto i : indices(matrices)) {
    if (!matrices[i].used()) continue;
    if (matrices[i].location) {
      allow_pool_access(matrices[i].data, users);
      continue;
    }
    on_host.push_back(i);
    ranges.push_back(range_of(matrices[i]));
  }
  if (pageable == Pageable::copied && leave_to_threads(on_host, ranges)) return;
  if (pageable != Pageable::staged) {
    Registrations::Answer answer = Registrations::of_process().lease(ranges);
    leases_ = std::move(answer.leases);
    for (const auto r : indices(ranges))
      if (!answer.copyable[r]) substitute(on_host[r]);
  } else {
    for (const auto r : indices(ranges))
      if (Registrations::Lease lease = Registrations::of_process().lease_held(ranges[r]))
        leases_.push_back(std::move(lease));
      else if (host_memory(ranges[r]) == HostMemory::mixed)
        substitute(on_host[r]);
  }
}

/// Includes matrices that are registered in parts, because threads can copy them. False
/// if there is too little to copy to start threads.
bool MatrixAccess::leave_to_threads(std::span<const size_t> on_host,
                                    std::span<const api::AddressRange> ranges) {
  constexpr uintptr_t least = 64 << 20;
  uintptr_t bytes = 0;
  for (const auto r : indices(ranges)) {
    if (Registrations::Lease lease = Registrations::of_process().lease_held(ranges[r])) {
      leases_.push_back(std::move(lease));
      continue;
    }
    if (host_memory(ranges[r]) == HostMemory::pinned) continue;
    bytes += ranges[r].bytes();
    *std::array{&copied_.a, &copied_.b, &copied_.c}[on_host[r]] = true;
  }
  if (bytes >= least || !copied_.any()) return true;
  leases_.clear(), copied_ = {};
  return false;
}

std::optional<AllocationIds> MatrixAccess::allocations(const api::Copies& copies) const {
  AllocationIds ids;
  for (const auto i : indices(matrices_)) {
    if (!matrices_[i].used()) continue;
    const auto id = copies_[i] ? std::nullopt : id_of(matrices_[i]);
    if (!id && !matrices_[i].location) return std::nullopt;
    ids.push_back(id.value_or(0));  // pools of devices keep their addresses
  }
  for (const auto* of_input : {&copies.a, &copies.b})
    for (const auto& copy : *of_input)
      ids.push_back(allocation_of(copy.data).value_or(0));
  return ids;
}

void MatrixAccess::Free::operator()(std::byte* pages) const { std::free(pages); }

void MatrixAccess::substitute(size_t which) {
  const api::Matrix& matrix = matrices_[which];
  const size_t page = api::page_size(),
               pages = (size_t(matrix.bytes()) + page - 1) / page;
  copies_[which] = Pages{static_cast<std::byte*>(std::aligned_alloc(page, pages * page))};
  if (!copies_[which]) throw std::bad_alloc{};
  if (matrix.read)
    copy_elements(matrix, static_cast<const std::byte*>(matrix.data),
                  copies_[which].get());
}

api::Pointers MatrixAccess::pointers() const {
  api::Pointers pointers{};
  for (const auto i : indices(pointers))
    pointers[i] = copies_[i] ? copies_[i].get() : matrices_[i].data;
  return pointers;
}

void MatrixAccess::finish() {
  for (const auto i : indices(copies_))
    if (copies_[i] && matrices_[i].written)
      copy_elements(matrices_[i], copies_[i].get(),
                    static_cast<std::byte*>(matrices_[i].data));
  leases_.clear();
}

}  // namespace tilerail::cuda
