#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

#include "backends/host/run/host_executor.hpp"
#include "check/reference.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "study/bench_run.hpp"

namespace tilerail::study {
namespace {

/// A, B and C, what the check needs besides, and the arenas of all devices.
double bytes_needed(const Plan& plan, bool check) {
  const GemmProblem& p = plan.problem;
  const auto matrix = [&](std::int64_t ld, std::int64_t cols) {
    return static_cast<double>(ld) * static_cast<double>(cols) * static_cast<double>(element_size(p.dtype));
  };
  const double c = matrix(p.ldc, p.n);
  double bytes = matrix(p.lda, p.cols_a()) + matrix(p.ldb, p.cols_b()) + (check ? 2 * c : c);
  for (std::int64_t peak : plan.peak_bytes) bytes += static_cast<double>(peak);
  return bytes;
}

void check_memory(const Plan& plan, bool check) {
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double needed = bytes_needed(plan, check);
  if (needed <= there) return;
  throw InputError{fmt::format("--{}: matrices and tiles need {}, this machine has {}; take smaller sizes",
                               to_string(plan.problem.routine), bytes_text(needed), bytes_text(there))};
}

std::size_t median_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order[(order.size() - 1) / 2];
}

class HostRunner final : public BenchRunner {
 public:
  explicit HostRunner(const Topology& topology) : topology_{topology} {}

  RunResult run(const Plan& plan, const RunSettings& settings) override {
    check_memory(plan, settings.check);
    GemmData data{plan.problem, settings.seed};
    HostExecutor executor{topology_};
    executor.set_matrices(data.matrices());
    const auto execute = [&] {
      data.reset_c();
      return executor.execute(plan);
    };
    for (int i = 0; i < settings.warmup; ++i) execute();

    std::vector<Timeline> timelines;
    RunResult result;
    for (int i = 0; i < settings.iterations; ++i) {
      timelines.push_back(execute());
      result.makespans.push_back(timelines.back().makespan().value);
      spdlog::debug("iteration {}: {}", i + 1, seconds_text(result.makespans.back()));
    }
    result.timeline = std::move(timelines[median_of(result.makespans)]);
    if (settings.check) {
      const GemmCheck check = data.check();
      result.check = CheckResult{check.passed(), check.residual, check.tolerance, check.summary()};
    }
    return result;
  }

 private:
  const Topology& topology_;
};

}  // namespace

std::unique_ptr<BenchRunner> make_host_runner(const Topology& topology) {
  return std::make_unique<HostRunner>(topology);
}

}  // namespace tilerail::study
