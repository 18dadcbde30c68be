#pragma once

#include <compare>
#include <optional>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"

namespace tilerail {

/// A route of flows between two memories, each flow limited to `cap`.
struct FlowRoute {
  MemoryId src, dst;
  std::optional<Rate> cap;
  auto operator<=>(const FlowRoute&) const = default;
};

}  // namespace tilerail
