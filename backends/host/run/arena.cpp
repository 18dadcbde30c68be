#include "backends/host/run/arena.hpp"

#include <cstring>
#include <new>

namespace tilerail::host {
namespace {

constexpr int64_t page_bytes = 4096;

}  // namespace

bool Arena::reserve(int64_t bytes) {
  if (bytes <= size_) return false;
  data_.reset();
  size_ = 0;
  const int64_t rounded = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, size_t(rounded))));
  if (!data_) throw std::bad_alloc{};
  size_ = rounded;
  return true;
}

void Arena::fill(int part, int parts, unsigned char value) {
  const int64_t pages = size_ / page_bytes;
  const int64_t begin = pages * part / parts * page_bytes,
                end = pages * (part + 1) / parts * page_bytes;
  if (end > begin) std::memset(data() + begin, value, size_t(end - begin));
}

}  // namespace tilerail::host
