#include "model/base/known_names.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "model/base/units_text.hpp"

namespace tilerail {

std::string known_names(std::span<const std::string> names) {
  constexpr size_t most_shown = 8;
  if (names.empty()) return "known: none";
  std::vector<std::string> shown;
  for (const std::string& name : names.first(std::min(names.size(), most_shown)))
    shown.push_back(in_quotes(name));
  if (names.size() > most_shown)
    shown.back() += fmt::format(" and {} more", names.size() - most_shown);
  return fmt::format("known: {}", fmt::join(shown, ", "));
}

}  // namespace tilerail
