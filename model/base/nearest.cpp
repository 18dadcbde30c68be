#include "model/base/nearest.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr size_t longest = 128;  // of an unknown name that is compared

/// Levenshtein's distance: how many letters are changed, added or left out.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (const auto j : indices(row)) row[j] = j;
  for (const auto i : indices(a)) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (const auto j : indices(b)) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string known_names(std::string_view unknown, std::span<const std::string> names) {
  constexpr size_t few = 8, shown = 4;
  if (names.empty()) return "there is none";
  std::vector<std::pair<size_t, std::string_view>> order;
  for (const std::string& name : names)
    order.emplace_back(names.size() <= few ? 0 : distance(unknown.substr(0, longest), name), name);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), names.size() <= few ? few : shown); ++i)
    text += (i > 0 ? ", " : "") + in_quotes(order[i].second);
  return (names.size() <= few ? "there are " : fmt::format("of {} the nearest are ", names.size())) + text;
}

std::string unknown_key(std::string_view key, std::span<const std::string> known) {
  const std::string_view cut = key.substr(0, longest);
  const auto nearest =
      std::ranges::min_element(known, {}, [&](const std::string& name) { return distance(cut, name); });
  const bool is_near = nearest != known.end() && distance(cut, *nearest) <= nearest->size() / 2;
  return fmt::format("unknown key {}{}; expected one of {}", in_quotes(key),
                     is_near ? ", perhaps " + in_quotes(*nearest) : "", fmt::join(known, ", "));
}

}  // namespace tilerail
