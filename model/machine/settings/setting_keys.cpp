#include "model/machine/settings/setting_keys.hpp"

#include <algorithm>
#include <array>

namespace tilerail {
namespace {

constexpr std::string_view of_links[] = {"bandwidth", "latency", "per_flow"};
constexpr std::string_view of_groups[] = {"capacity", "both_busy", "bounds", "forward_share"};
constexpr std::string_view of_memories[] = {"capacity",      "engines.h2d", "engines.d2h", "engines.peer",
                                            "engines.total", "watts.idle",  "watts.busy"};
constexpr std::string_view of_kernels[] = {"launch",   "multiprocessors", "memory_bandwidth", "rate",     "f64.rate",
                                           "f32.rate", "f16.rate",        "bf16.rate",        "tf32.rate"};
constexpr std::string_view kinds[] = {"link:", "group:", "memory:", "kernels:"};

}  // namespace

std::span<const std::string_view> figures_of_kind(std::string_view kind) {
  if (kind == "link:") return of_links;
  if (kind == "group:") return of_groups;
  if (kind == "memory:") return of_memories;
  if (kind == "kernels:") return of_kernels;
  return {};
}

std::string_view figure_of(std::string_view key) {
  std::string_view found;
  for (const std::string_view kind : kinds) {
    if (!key.starts_with(kind)) continue;
    const std::string_view rest = key.substr(kind.size());
    for (const std::string_view figure : figures_of_kind(kind))
      if (figure.size() > found.size() && rest.size() > figure.size() + 1 && rest.ends_with(figure) &&
          rest[rest.size() - figure.size() - 1] == '.')
        found = figure;
  }
  return found;
}

bool is_part_key(std::string_view key) {
  const bool of_kind = key.starts_with("link:") || key.starts_with("memory:");
  return of_kind && !key.ends_with(':') && figure_of(key).empty();
}

bool begins_as_setting(std::string_view key) {
  return is_setting_key(key) ||
         std::ranges::any_of(kinds, [&](std::string_view kind) { return key.starts_with(kind); });
}

bool is_setting_key(std::string_view key) {
  return key == "gpus" || key == "name" || key.starts_with("issue.") || !figure_of(key).empty();
}

}  // namespace tilerail
