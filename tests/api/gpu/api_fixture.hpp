#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/cuda/run/cuda_check.hpp"
#include "tests/api/gpu/api_case.hpp"
#include "tests/support/carried_machines.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail::test {

/// A tile size that gives small problems many tiles.
inline constexpr int tile = 96;

/// Maximum number of tile products that are added to one tile of C.
inline int64_t steps(const GemmProblem& problem) {
  return (problem.k + tile - 1) / tile + 1;
}

/// Tests of the API; skipped on machines without a GPU.
class ApiOnGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    gpus_ = std::min(cuda::device_count(), 8);  // the maximum of the shipped description
    if (gpus_ == 0) GTEST_SKIP() << "no CUDA device here";
  }

  static ContextOptions shipped_machine() {
    ContextOptions options;
    options.topology = shipped_file("hgx-h200");
    return options;
  }

  static ContextOptions in_tiles() {
    ContextOptions options = shipped_machine();
    options.overrides = {"tile=" + std::to_string(tile), "devices=all"};
    return options;
  }

  int gpus_ = 0;
};

}  // namespace tilerail::test
