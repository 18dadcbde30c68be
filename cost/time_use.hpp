#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tilerail {

/// What time goes into: kinds of resources, and of pauses between their uses.
enum class TimeUse { compute, copies, engines, group, issue, kernels, latency, link, memory, nothing, waiting };

constexpr std::string_view to_string(TimeUse use) {
  constexpr std::array<std::string_view, 11> names{"compute", "copies", "engines", "group",   "issue",  "kernels",
                                                   "latency", "link",   "memory",  "nothing", "waiting"};
  return names[size_t(use)];
}

}  // namespace tilerail
