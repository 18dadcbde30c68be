#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "model/machine/topology_check.hpp"

namespace tilerail {

/// One table entry while it is checked, and how errors name it.
struct Entry {
  TopologyDefect::Table table;
  std::size_t index;
  std::string what;  // "link 'a->b'"

  [[noreturn]] void fail(const std::string& message) const {
    throw TopologyDefect{table, index, what + ": " + message};
  }
  void require(bool holds, const char* message) const {
    if (!holds) fail(message);
  }
  /// Finite and above zero.
  void require_positive(double value, const char* field) const {
    if (!(std::isfinite(value) && value > 0))
      fail(std::string{field} + " is not above zero; expected a positive value");
  }
  void require_not_negative(double value, const char* field) const {
    if (!(std::isfinite(value) && value >= 0)) fail(std::string{field} + " is negative; expected zero or more");
  }
  void require_name(const std::string& name) const {
    if (name.empty() || name.size() > TopologyLimits::name_length)
      fail(fmt::format("its name has {} characters; expected 1 to {}", name.size(), TopologyLimits::name_length));
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

}  // namespace tilerail
