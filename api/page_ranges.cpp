#include "api/page_ranges.hpp"

#include <unistd.h>

#include <algorithm>

namespace tilerail::api {

std::uintptr_t page_size() { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

std::vector<AddressRange> covering_pages(std::span<const AddressRange> ranges, std::uintptr_t page) {
  std::vector<AddressRange> pages;
  for (const AddressRange& range : ranges)
    if (range.begin < range.end) pages.push_back({range.begin / page * page, (range.end + page - 1) / page * page});
  std::sort(pages.begin(), pages.end(), [](const auto& x, const auto& y) { return x.begin < y.begin; });
  std::vector<AddressRange> merged;
  for (const AddressRange& range : pages) {
    if (!merged.empty() && range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  }
  return merged;
}

}  // namespace tilerail::api
