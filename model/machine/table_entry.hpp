#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "model/base/units_text.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {

/// One table entry while it is checked, and how errors name it.
struct Entry {
  TopologyDefect::Table table;
  std::size_t index;
  std::string what;  // "link 'a->b'"

  [[noreturn]] void fail(const std::string& message) const {
    throw TopologyDefect{table, index, fmt::format("{}: {}", what, message)};
  }
  void require(bool holds, const char* message) const {
    if (!holds) fail(message);
  }
  template <class Quantity>
  void require_in(const Range<Quantity>& range, Quantity value, const char* field) const {
    if (!range.holds(value)) fail(fmt::format("{} {} is out of range; expected {}", field, to_text(value), range.text));
  }
  template <class Quantity>
  void require_in(const Range<Quantity>& range, const std::optional<Quantity>& value, const char* field) const {
    if (value) require_in(range, *value, field);
  }
  void require_few(std::size_t points, const char* of_what) const {
    if (points > TopologyLimits::points)
      fail(fmt::format("{} {} points; expected at most {}", of_what, points, TopologyLimits::points));
  }
  void require_name(const std::string& name) const {
    if (!is_name(name)) fail(fmt::format("its name is not allowed; expected {}", expected_name));
  }
  /// Node names stand in "a->b#2", "A:B:C" and comma lists.
  void require_node_name(const std::string& name) const {
    require_name(name);
    for (char c : name)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
            c == '.'))
        fail("its name has a character that is not allowed; expected letters, digits, '_', '-' and '.'");
  }
};

using Defects = std::vector<TopologyDefect>;

/// Adds what `check` throws.
template <class Check>
void catch_defect(Defects& defects, const Check& check) try {
  check();
} catch (const TopologyDefect& defect) {
  defects.push_back(defect);
}

/// For each entry of a table on its own.
template <class Check>
void each_entry(Defects& defects, std::size_t count, const Check& check) {
  for (std::size_t i = 0; i < count; ++i) catch_defect(defects, [&] { check(i); });
}

}  // namespace tilerail
