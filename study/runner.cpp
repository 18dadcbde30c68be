#include "study/runner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "backends/factory.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "model/base/timer.hpp"

namespace tilerail::study {
namespace {

/// The representative iteration: the median; of an even number the faster middle one,
/// because a mean is not the makespan of any iteration and the parts of an error would
/// not add up to it.
size_t middle_of(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  for (const auto i : indices(order)) order[i] = i;
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return values[a] < values[b]; });
  return order[(order.size() - 1) / 2];
}

}  // namespace

double RunResult::median() const { return makespans[middle_of(makespans)]; }

Runner::Runner(std::unique_ptr<RealExecutor> executor, std::span<const Plan* const> plans,
               const RunSettings& settings)
    : settings_{settings},
      executor_{std::move(executor)},
      matrices_{executor_->test_matrices(
          plans, {.pages = settings.pages, .checked = settings.check})} {}

Runner::Runner(std::string_view backend, const Topology& machine,
               std::span<const Plan* const> plans, const RunSettings& settings)
    : Runner{make_real_executor(backend, machine), plans, settings} {}

RunResult Runner::run(const Plan& plan) {
  RunResult result;
  const Matrices matrices = matrices_->of(plan, settings_.seed);
  if (executor_->has_overheads()) {
    time_apart(plan, matrices, result);
  } else {
    executor_->bind(plan, matrices);
    time_and_trace(result);
  }
  if (settings_.check) result.check = matrices_->check();
  // Last, because C may overflow its type after thousands of calls.
  if (result.gpu) result.gpu->energy = counted_energy(plan);
  return result;
}

void Runner::stop_if_asked() const {
  if (settings_.stop_asked()) throw RunStopped{};
}

void Runner::time_and_trace(RunResult& result) {
  const auto traced_call = [&] {
    stop_if_asked();
    matrices_->reset_c();
    return executor_->traced_call();
  };
  for (int i = 0; i < settings_.warmup; ++i) traced_call();
  std::vector<Timeline> timelines;
  for (int i = 0; i < settings_.iterations; ++i) {
    TracedCall call = traced_call();
    result.makespans.push_back(call.times.wall);
    timelines.push_back(std::move(call.timeline));
    spdlog::debug("iteration {}: {}", i + 1, seconds_text(result.makespans.back()));
  }
  result.timeline = std::move(timelines[middle_of(result.makespans)]);
}

void Runner::time_apart(const Plan& plan, const Matrices& matrices, RunResult& result) {
  GpuRunFacts& facts = result.gpu.emplace();
  // Earlier work, such as calls with counted energy, lowers clocks for about 0.1 s.
  constexpr std::chrono::milliseconds rest{300};
  std::this_thread::sleep_for(rest);
  const Timer timer;
  executor_->bind(plan, matrices);
  executor_->call();
  facts.first_s = timer.seconds();
  for (int i = 0; i < settings_.warmup; ++i) {
    stop_if_asked();
    executor_->call();
  }
  for (int i = 0; i < settings_.iterations; ++i) {
    stop_if_asked();
    const CallTimes times = executor_->call();
    result.makespans.push_back(times.wall);
    facts.issue_per_op += times.issue_per_op / settings_.iterations;
  }
  executor_->traced_call();  // warms up
  TracedCall traced = executor_->traced_call();
  result.timeline = std::move(traced.timeline);
  facts.traced_s = traced.times.wall, facts.clock_skew = traced.clock_skew,
  facts.tracer = traced.tracer;
  facts.host_buffer = matrices_->host_memory();
  if (!settings_.check) return;
  matrices_->reset_c();
  executor_->call();
}

/// Runs calls back to back, at least two and at least for the set time plus a margin for
/// the counters' steps.
std::optional<CountedEnergy> Runner::counted_energy(const Plan& plan) {
  constexpr double steps = 0.25;  // s, slightly over two steps of the slowest counters
  if (settings_.energy_seconds == 0) return std::nullopt;
  const auto count = executor_->count_energy(plan.devices);
  if (!count) return std::nullopt;
  std::vector<double> ends;
  while (ends.size() < 3 ||
         ends.back() - ends.front() < settings_.energy_seconds + steps) {
    stop_if_asked();
    executor_->call();
    ends.push_back(count->now());
  }
  return count->stop(ends);
}

void require_backend(std::string_view name) { require_real_executor(name); }

HostPages pages_of(const std::string& text) {
  if (text == "spread") return HostPages::spread;
  if (text == "plain") return HostPages::plain;
  throw InputError{"host-buffers", text, "is not a kind of host buffer",
                   "spread or plain"};
}

}  // namespace tilerail::study
