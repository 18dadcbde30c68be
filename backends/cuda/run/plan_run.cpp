#include "backends/cuda/run/plan_run.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/issue_op.hpp"
#include "model/base/indices.hpp"
#include "model/base/timer.hpp"
#include "plan/describe.hpp"

namespace tilerail::cuda {
namespace {

/// Thrown by an issuer that waits for another, if any issuer has failed.
struct Cancellation {};

}  // namespace

PlanRun::PlanRun(CudaPlan& plan, std::span<std::byte* const> buffers, Tracer* tracer,
                 StagedCopies* staged, HostFunction on_host)
    : plan_{plan},
      buffers_{buffers},
      tracer_{tracer},
      staged_{staged},
      on_host_{std::move(on_host)},
      progress_(plan.program.issuers.size()) {}

CudaRunTimes PlanRun::run(IssuerPool& pool) {
  if (tracer_) tracer_->start();
  return on_all_issuers(pool, true);
}

CudaRunTimes PlanRun::hand_over(IssuerPool& pool) {
  if (plan_.plan.ops.size() != 1) return on_all_issuers(pool, false);
  const Timer timer;
  const DeviceScope scope{plan_.ordinals.front()};
  record();
  CudaRunTimes times;
  times.wall = times.issue = times.issue_per_op = timer.seconds();
  return times;
}

CudaRunTimes PlanRun::on_all_issuers(IssuerPool& pool, bool waited_for) {
  const Timer timer;
  pool.run(progress_.size(), [&](size_t issuer) { issue_all(issuer, waited_for); });
  if (staged_ && !failed_) staged_->finish();
  CudaRunTimes times;
  times.wall = timer.seconds();
  if (failed_) throw CudaError{failure_};
  double total = 0;
  for (const Progress& p : progress_) {
    times.issue = std::max(times.issue, p.issue_seconds);
    total += p.issue_seconds;
  }
  if (!plan_.plan.ops.empty()) times.issue_per_op = total / double(plan_.plan.ops.size());
  return times;
}

void PlanRun::issue_all(size_t issuer, bool waited_for) noexcept {
  std::optional<OpId> current;
  try {
    const Timer timer;
    const double waited = issue_steps(issuer, current);
    progress_[issuer].issue_seconds = timer.seconds() - waited;
    current.reset();
    if (waited_for) wait_for_streams(issuer);
  } catch (const Cancellation&) {
  } catch (const std::exception& error) {
    fail(current, error.what());
  }
  if (failed_)
    for (const uint32_t stream : plan_.streams_of_issuer[issuer])
      cudaStreamSynchronize(plan_.streams[stream]);
}

/// `current` is the operation that is being issued. Returns the seconds that the issuer
/// waited.
double PlanRun::issue_steps(size_t issuer, std::optional<OpId>& current) {
  int device = -1;
  double waited = 0;
  for (const StreamProgram::Step& step : plan_.program.steps[issuer]) {
    current = step.op;
    waited += issue_on_device(step, device);
    progress_[issuer].issued.store(step.op.value + 1, std::memory_order_release);
  }
  progress_[issuer].issued.store(std::numeric_limits<int64_t>::max(),
                                 std::memory_order_release);
  return waited;
}

/// `current` is the current device, or -1 if unknown. Returns the same as `issue_step`.
double PlanRun::issue_on_device(const StreamProgram::Step& step, int& current) {
  if (const int wanted = plan_.ordinals[step.stream]; wanted != current) {
    check(cudaSetDevice(wanted), "choosing the device");
    current = wanted;
  }
  return issue_step(step);
}

/// Issues the steps of all issuers in the order of the plan, so that no issuer waits for
/// another.
void PlanRun::record() {
  std::optional<OpId> current;
  try {
    int device = -1;
    std::vector<size_t> next(progress_.size(), 0);
    for (const auto i : indices(plan_.plan.ops)) {
      for (const auto issuer : indices(next)) {
        const auto& steps = plan_.program.steps[issuer];
        if (next[issuer] == steps.size() || steps[next[issuer]].op.index() != i) continue;
        current = OpId{i};
        issue_on_device(steps[next[issuer]++], device);
        progress_[issuer].issued.store(OpId{i}.value + 1, std::memory_order_release);
      }
    }
  } catch (const std::exception& error) {
    throw CudaError{current ? describe(plan_.plan, *current) + ": " + error.what()
                            : error.what()};
  }
}

void PlanRun::wait_for_streams(size_t issuer) {
  for (const uint32_t stream : plan_.streams_of_issuer[issuer]) {
    const StreamProgram::Stream& s = plan_.program.streams[stream];
    const cudaError_t status = cudaStreamSynchronize(plan_.streams[stream]);
    if (status != cudaSuccess)
      check(status, std::string{s.compute ? "a kernel on " : "a copy of "} +
                        plan_.plan.memories[s.device.index()]);
  }
}

/// Issues one operation. Returns the seconds that it waited for other issuers and for
/// slots.
double PlanRun::issue_step(const StreamProgram::Step& step) {
  const cudaStream_t stream = plan_.streams[step.stream];
  double waited = 0;
  for (uint32_t w = step.wait_begin; w < step.wait_end; ++w) {
    const StreamProgram::Wait& wait = plan_.program.waits[w];
    const auto& issued = progress_[wait.issuer].issued;
    if (issued.load(std::memory_order_acquire) <= wait.op.value) {
      const Timer timer;
      spin_until([&] {
        return issued.load(std::memory_order_acquire) > wait.op.value || failed_;
      });
      waited += timer.seconds();
    }
    if (failed_) throw Cancellation{};
    check(cudaStreamWaitEvent(stream, plan_.event(wait.event), 0),
          "waiting for an event");
  }
  if (tracer_) tracer_->before(step.op, stream);
  if (staged_ && staged_->has(step.op))
    waited += staged_->issue(step.op, stream, plan_.ordinals[step.stream]);
  else if (plan_.program.streams[step.stream].on_host)
    issue_on_host(step.op, stream);
  else
    issue_op(plan_.plan, plan_.plan.op(step.op), buffers_,
             {stream, plan_.handles[step.stream], plan_.scalars[step.stream]});
  if (tracer_) tracer_->after(step.op, stream);
  if (step.event >= 0)
    check(cudaEventRecord(plan_.event(size_t(step.event)), stream), "recording an event");
  return waited;
}

/// The stream waits for the events of other streams before it calls the function, and
/// later operations of the stream wait for its end: lanes need no locks of their own.
void PlanRun::issue_on_host(OpId op, cudaStream_t stream) {
  struct Call {
    PlanRun& run;
    OpId op;
  };
  auto call = std::make_unique<Call>(Call{*this, op});
  const auto run = [](void* data) {
    const std::unique_ptr<Call> given{static_cast<Call*>(data)};
    PlanRun& of = given->run;
    if (of.failed_) return;
    try {
      of.on_host_(of.plan_.plan, of.plan_.plan.op(given->op), of.buffers_);
    } catch (const std::exception& error) {
      of.fail(given->op, error.what());
    }
  };
  check(cudaLaunchHostFunc(stream, run, call.get()), "calling a host function");
  static_cast<void>(call.release());  // the function deletes it
}

void PlanRun::fail(std::optional<OpId> op, const std::string& what) {
  const std::lock_guard lock{failure_mutex_};
  if (failed_) return;
  failure_ = op ? describe(plan_.plan, *op) + ": " + what : what;
  failed_ = true;
  if (staged_) staged_->abandon();
}

}  // namespace tilerail::cuda
