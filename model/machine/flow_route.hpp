#pragma once

#include <compare>
#include <optional>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"

namespace tilerail {

/// A way that flows take from a memory to another, each flow at no more than `cap`.
struct FlowRoute {
  MemoryId src, dst;
  std::optional<Rate> cap;
  auto operator<=>(const FlowRoute&) const = default;
};

}  // namespace tilerail
