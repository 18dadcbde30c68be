#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace tilerail::testing {

/// A shipped machine and the memory that contains all matrices.
using MachinePlace = std::tuple<std::string, std::string>;

/// Two machines, and matrices on the host and on a GPU.
inline auto machine_places() {
  return ::testing::Combine(::testing::Values("two-gpu", "clx-ai"),
                            ::testing::Values("host", "gpu1"));
}

inline std::string machine_place_name(
    const ::testing::TestParamInfo<MachinePlace>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace tilerail::testing
