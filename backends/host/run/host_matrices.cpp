#include "backends/host/run/host_matrices.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"

namespace tilerail::host {
namespace {

/// Bytes of A, B and C, and of the check.
double matrix_bytes(const GemmProblem& p, bool checked) {
  const auto matrix = [&](int64_t ld, int64_t cols) {
    return double(ld) * double(cols) * double(element_size(p.dtype));
  };
  const double c = matrix(p.ldc, p.n);
  return matrix(p.lda, p.cols_a()) + matrix(p.ldb, p.cols_b()) + (checked ? 2 * c : c);
}

}  // namespace

HostMatrices::HostMatrices(std::span<const Plan* const> plans, bool checked) {
  const double there = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  std::vector<int64_t> arenas;  // by memory; the executor keeps them
  for (const auto i : indices(plans)) {
    const Plan* const plan = plans[i];
    arenas.resize(std::max(arenas.size(), plan->peak_bytes.size()));
    double needed = matrix_bytes(plan->gemm(), checked);
    for (const auto m : indices(plan->peak_bytes)) {
      arenas[m] = std::max(arenas[m], plan->peak_bytes[m]);
      needed += double(arenas[m]);
    }
    if (needed > there)
      throw PlanError{
          i,
          {to_string(plan->gemm().routine), bytes_text(needed),
           fmt::format("are needed for matrices and tiles, and this machine has {}",
                       bytes_text(there)),
           "smaller sizes"}};
  }
}

Matrices HostMatrices::of(const Plan& plan, uint64_t seed) {
  return data_.emplace(plan.gemm(), seed).matrices();  // frees the previous matrices
                                                       // first
}

CheckResult HostMatrices::check() {
  const GemmCheck check = data_->check();
  return {check.passed(), check.residual, check.tolerance, check.summary()};
}

}  // namespace tilerail::host
