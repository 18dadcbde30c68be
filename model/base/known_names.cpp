#include "model/base/known_names.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "model/base/units_text.hpp"

namespace tilerail {

std::string known_names(std::span<const std::string> names) {
  constexpr size_t most_told = 8;
  if (names.empty()) return "there is none";
  std::vector<std::string> told;
  for (const std::string& name : names.first(std::min(names.size(), most_told)))
    told.push_back(in_quotes(name));
  if (names.size() > most_told)
    told.back() += fmt::format(" and {} more", names.size() - most_told);
  return fmt::format("there are {}", fmt::join(told, ", "));
}

}  // namespace tilerail
