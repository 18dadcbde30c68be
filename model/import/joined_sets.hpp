#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tilerail {

/// The connected components of the numbers 0 to count - 1 under `joined` in either
/// direction. Sets and their members are in ascending order.
std::vector<std::vector<size_t>> joined_sets(
    size_t count, const std::function<bool(size_t, size_t)>& joined);

}  // namespace tilerail
