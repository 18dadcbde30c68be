#pragma once

#include <optional>

#include "backends/real_executor.hpp"
#include "check/reference.hpp"

namespace tilerail::host {

/// Matrices in ordinary memory, compared element by element with a reference.
class HostMatrices final : public TestMatrices {
 public:
  /// Throws PlanError if the matrices of a plan and the tiles of all plans do not fit in
  /// this machine's memory.
  HostMatrices(std::span<const Plan* const> plans, bool checked);

  Matrices of(const Plan& plan, uint64_t seed) override;
  void reset_c() override { data_->reset_c(); }
  CheckResult check() override;

 private:
  std::optional<GemmData> data_;
};

}  // namespace tilerail::host
