#pragma once

#include <algorithm>

namespace tilerail {

bool contains(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace tilerail
