#pragma once

#include <cstdint>

namespace tilerail {

/// How many operations a search may plan and judge for a set of GPUs: a count and not a
/// time, so that every process decides alike. A fast search judges none.
/// docs/model.md#judge
inline constexpr int64_t normal_effort = 200'000, high_effort = 1'000'000;

}  // namespace tilerail
