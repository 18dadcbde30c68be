#include "api/page_ranges.hpp"

#include <unistd.h>

#include "model/base/intervals.hpp"

namespace tilerail::api {

uintptr_t page_size() { return uintptr_t(sysconf(_SC_PAGESIZE)); }

std::vector<AddressRange> covering_pages(std::span<const AddressRange> ranges,
                                         uintptr_t page) {
  IntervalSet<uintptr_t> pages;
  for (const AddressRange& range : ranges)
    if (range.begin < range.end)
      pages.add({range.begin / page * page, (range.end + page - 1) / page * page});
  std::vector<AddressRange> united;
  for (const auto& each : pages) united.push_back({each.lower(), each.upper()});
  return united;
}

}  // namespace tilerail::api
