#include <algorithm>
#include <chrono>
#include <map>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/tracer.hpp"
#include "backends/cuda/trace/activity_match.hpp"
#include "model/base/indices.hpp"

namespace tilerail::cuda {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int alignment_tries = 20;

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// A timed event of a device and its time on the host's clock.
struct Base {
  cudaEvent_t event = nullptr;
  double host_seconds = 0;  // on the steady clock, when the device passed the event
  double uncertainty = 0;
};

class EventTracer final : public Tracer {
 public:
  ~EventTracer() override { destroy(); }

  const char* name() const override { return "events"; }

  void begin(const TracedRun& run) override {
    destroy();
    skew_ = 0;
    plan_ = &run.plan;
    ordinals_.resize(run.plan.ops.size());
    const size_t streams = run.streams.size();
    for (size_t s = 0; s < streams; ++s)
      if (!bases_.contains(run.ordinals[s])) bases_[run.ordinals[s]] = {};
    make_events(run);
    for (size_t s = 0; s < streams; ++s)
      if (Base& base = bases_[run.ordinals[s]]; !base.event)
        base = align(run.ordinals[s], run.streams[s]);
  }

  void start() override { start_ = seconds(Clock::now().time_since_epoch()); }

  void before(OpId op, cudaStream_t stream) override {
    check(cudaEventRecord(starts_[op.index()], stream), "tracing");
  }
  void after(OpId op, cudaStream_t stream) override {
    check(cudaEventRecord(ends_[op.index()], stream), "tracing");
  }

  std::vector<OpTime> end() override {
    std::vector<OpTime> times(plan_->ops.size());
    for (const auto i : indices(times)) {
      const Base& base = bases_.at(ordinals_[i]);
      const double offset = base.host_seconds - start_;
      times[i] = {offset + since(base, starts_[i]), offset + since(base, ends_[i])};
    }
    destroy();
    return times;
  }

  void abandon() override { destroy(); }

  void pause() override {}

  double clock_skew() const override { return skew_; }

 private:
  static double since(const Base& base, cudaEvent_t event) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, base.event, event),
          "reading a traced time");
    return double(milliseconds) * 1e-3;
  }

  void make_events(const TracedRun& run) {
    const size_t count = run.plan.ops.size();
    starts_.assign(count, nullptr);
    ends_.assign(count, nullptr);
    for (const auto& steps : run.program.steps) {
      for (const StreamProgram::Step& step : steps) {
        const size_t op = step.op.index();
        ordinals_[op] = run.ordinals[step.stream];
        const DeviceScope scope{ordinals_[op]};
        check(cudaEventCreate(&starts_[op]), "creating a timed event");
        check(cudaEventCreate(&ends_[op]), "creating a timed event");
      }
    }
  }

  /// Finds the host's time of an event. The device passes the event between its record
  /// and its synchronisation, so the best of several tries is the one with the shortest
  /// time between the two.
  Base align(int ordinal, cudaStream_t stream) {
    const DeviceScope scope{ordinal};
    Base best;
    for (int i = 0; i < alignment_tries; ++i) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreate(&event), "creating a timed event");
      const auto before = Clock::now();
      check(cudaEventRecord(event, stream), "aligning clocks");
      check(cudaEventSynchronize(event), "aligning clocks");
      const double width = seconds(Clock::now() - before);
      if (best.event && width / 2 >= best.uncertainty) {
        cudaEventDestroy(event);
        continue;
      }
      if (best.event) cudaEventDestroy(best.event);
      best = {event, seconds(before.time_since_epoch()) + width / 2, width / 2};
    }
    skew_ = std::max(skew_,
                     2 * best.uncertainty);  // two devices can err in opposite directions
    return best;
  }

  void destroy() {
    for (const auto* events : {&starts_, &ends_})
      for (const cudaEvent_t event : *events)
        if (event) cudaEventDestroy(event);
    for (const auto& [ordinal, base] : bases_)
      if (base.event) cudaEventDestroy(base.event);
    starts_.clear();
    ends_.clear();
    bases_.clear();
  }

  const Plan* plan_ = nullptr;
  std::map<int, Base> bases_;
  std::vector<int> ordinals_;  // by operation
  std::vector<cudaEvent_t> starts_, ends_;
  double skew_ = 0, start_ = 0;
};

}  // namespace

std::unique_ptr<Tracer> make_event_tracer() { return std::make_unique<EventTracer>(); }

}  // namespace tilerail::cuda
