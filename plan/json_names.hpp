#pragma once

#include <array>
#include <string_view>

namespace tilerail {

/// What plan files call things, by the value of the enumeration. docs/formats.md#plan
namespace plan_file {

inline constexpr int schema = 2;  // 1 had values for coefficients, and one element type
inline constexpr std::array<std::string_view, 4> scalar_names = {"zero", "one", "alpha", "beta"};
inline constexpr std::array<std::string_view, 4> buffer_names = {"A", "B", "C", "tile"};
inline constexpr std::array<std::string_view, 2> queue_names = {"compute", "copy"};

}  // namespace plan_file

}  // namespace tilerail
