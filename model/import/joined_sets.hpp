#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tilerail {

/// The sets into which `joined` divides the numbers from 0 to count - 1: two numbers are
/// in one set if they are joined, in either direction, or if others of the set join them.
/// Sets and their members are in ascending order.
std::vector<std::vector<size_t>> joined_sets(
    size_t count, const std::function<bool(size_t, size_t)>& joined);

}  // namespace tilerail
