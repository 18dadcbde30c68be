#include "backends/sim/simgrid_engine.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <simgrid/s4u.hpp>

#include <simgrid/version.h>

#include <algorithm>
#include <future>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;

#if SIMGRID_VERSION >= 33300
constexpr const char* timing_precision = "precision/timing";
constexpr const char* sharing_precision = "precision/work-amount";
#else
constexpr const char* timing_precision = "surf/precision";
constexpr const char* sharing_precision = "maxmin/precision";
#endif

/// Puts back what the constructor of a SimGrid engine changes: it takes over these signals and the signal stack.
class SignalGuard {
 public:
  SignalGuard() {
    for (int i = 0; i < count; ++i) sigaction(signals[i], nullptr, &actions_[i]);
    sigaltstack(nullptr, &stack_);
  }
  ~SignalGuard() {
    for (int i = 0; i < count; ++i) sigaction(signals[i], &actions_[i], nullptr);
    sigaltstack(&stack_, nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr int count = 3;
  static constexpr int signals[count] = {SIGINT, SIGSEGV, SIGBUS};
  struct sigaction actions_[count];
  stack_t stack_;
};

/// The first engine of a process reads SimGrid's own options from its arguments; the program's are never seen.
s4u::Engine* new_engine() {
  char name[] = "tilerail", no_exit_handler[] = "--cfg=debug/clean-atexit:0";
  char* arguments[] = {name, no_exit_handler, nullptr};
  int count = 2;
  return new s4u::Engine(&count, arguments);
}

/// The network model is fixed with the first zone.
void configure() {
  s4u::Engine::set_config("network/model", std::string{"CM02"});
  s4u::Engine::set_config("network/TCP-gamma", -1.0);      // the default bounds a flow by gamma / (2 latency)
  s4u::Engine::set_config("network/crosstraffic", false);  // no acknowledgements against the flow
}

/// SimGrid seals the platform of the first run of a process, and of no other: after a run of an empty platform, zones
/// can be added at any time.
void run_empty_platform() {
  s4u::Engine* first = new_engine();
  configure();
  s4u::create_full_zone("empty");
  first->run();
  delete first;
}

/// SimGrid's clock goes on from one simulation to the next. Sums of times round differently far from zero, so that a
/// plan's second simulation would differ from its first in the last bits; hence back to zero where the library
/// exposes its clock. Where it does not, only those bits are lost.
void rewind_clock() {
  static void* const clock = dlsym(RTLD_DEFAULT, "_ZN7simgrid6kernel10EngineImpl4now_E");
  if (clock) *static_cast<double*>(clock) = 0.0;
}

}  // namespace

/// The thread that makes an engine is its maestro, and SimGrid searches the list of all that its maestro has started
/// whenever something ends. Hence a thread that ends here, so that no simulation is in it.
SimGridEngine& SimGridEngine::get() {
  static SimGridEngine* const engine = [] {  // never deleted: SimGrid's statics may be gone by then
    return std::async(std::launch::async, [] { return new SimGridEngine; }).get();
  }();
  return *engine;
}

SimGridEngine::SimGridEngine() {
  if (s4u::Engine::has_instance()) throw std::logic_error{"the process already has a SimGrid engine of its own"};
  const SignalGuard guard;
  xbt_log_control_set("root.thresh:critical");
  run_empty_platform();
  engine_ = new_engine();
  root_ = s4u::create_full_zone("machines");
  s4u::Engine::on_time_advance_cb([this](double) {
    if (at_each_time_) at_each_time_();
  });
}

s4u::NetZone& SimGridEngine::new_zone() {
  s4u::NetZone* zone = s4u::create_full_zone("machine " + std::to_string(zones_++));
  zone->set_parent(root_);
  return *zone;
}

void SimGridEngine::start(double resolution, std::function<void()> at_each_time) {
  rewind_clock();
  origin_ = s4u::Engine::get_clock();
  const double last_place = origin_ * std::numeric_limits<double>::epsilon();
  s4u::Engine::set_config(timing_precision, std::max(resolution, 4 * last_place));
  s4u::Engine::set_config(sharing_precision, 1e-12);  // relative; the default of 1e-5 shows in the times
  at_each_time_ = std::move(at_each_time);
}

void SimGridEngine::run() { engine_->run(); }

double SimGridEngine::now() const { return s4u::Engine::get_clock() - origin_; }

}  // namespace tilerail
