#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilerail::api {

/// Bytes [begin, end) of the address space.
struct AddressRange {
  uintptr_t begin = 0, end = 0;

  uintptr_t bytes() const { return end - begin; }
  bool contains(const AddressRange& other) const {
    return begin <= other.begin && other.end <= end;
  }
  bool overlaps(const AddressRange& other) const {
    return begin < other.end && other.begin < end;
  }
  bool operator==(const AddressRange&) const = default;
};

/// So many bytes from an address on.
inline AddressRange range_at(const void* data, int64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return {begin, begin + uintptr_t(bytes)};
}

/// Page size of this machine in bytes.
uintptr_t page_size();

/// The whole pages that contain the ranges, ascending; ranges that share a page, or
/// touch, become one.
std::vector<AddressRange> covering_pages(std::span<const AddressRange> ranges,
                                         uintptr_t page);

}  // namespace tilerail::api
