#pragma once

#include <cstdint>

namespace tilerail {

/// How many operations a search may plan and simulate for a set of GPUs: a count instead
/// of a time, so that all processes find the same plan. A fast search simulates none.
/// docs/model.md#judge
inline constexpr int64_t normal_effort = 200'000, high_effort = 1'000'000;

}  // namespace tilerail
