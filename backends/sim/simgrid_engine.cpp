#include "backends/sim/simgrid_engine.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <simgrid/s4u.hpp>

#include <simgrid/version.h>
#include <xbt/config.hpp>

#include <stdexcept>
#include <string>

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

std::unique_ptr<s4u::Engine> new_engine() {
  if (s4u::Engine::has_instance()) throw std::logic_error{"another SimGrid engine is alive in this process"};
  const SignalGuard guard;
  // The first engine of a process reads SimGrid's own options here; the program's arguments are never seen.
  char name[] = "tilerail", no_exit_handler[] = "--cfg=debug/clean-atexit:0";
  char* arguments[] = {name, no_exit_handler, nullptr};
  int count = 2;
  return std::make_unique<s4u::Engine>(&count, arguments);
}

/// Options of the network model are fixed once the first engine is set up.
void set_once(const char* option, const std::string& value) {
  if (simgrid::config::get_value<std::string>(option) != value) s4u::Engine::set_config(option, value);
}

void configure(double resolution) {
  set_once("network/model", "CM02");
  s4u::Engine::set_config("network/TCP-gamma", -1.0);      // the default bounds a flow by gamma / (2 latency)
  s4u::Engine::set_config("network/crosstraffic", false);  // no acknowledgements against the flow
  s4u::Engine::set_config(timing_precision, resolution);
  s4u::Engine::set_config(sharing_precision, 1e-12);  // relative; the default of 1e-5 shows in the times
}

/// SimGrid's clock goes on from one engine to the next. Sums of times round differently far from zero, so that a
/// plan's second simulation would differ from its first in the last bits; hence back to zero where the library
/// exposes its clock. Where it does not, only those bits are lost.
void rewind_clock() {
  if (void* clock = dlsym(RTLD_DEFAULT, "_ZN7simgrid6kernel10EngineImpl4now_E")) *static_cast<double*>(clock) = 0.0;
}

}  // namespace

SimGridEngine::SimGridEngine(double resolution) {
  xbt_log_control_set("root.thresh:critical");
  engine_ = new_engine();
  configure(resolution);
  rewind_clock();
  origin_ = s4u::Engine::get_clock();
}

SimGridEngine::~SimGridEngine() = default;

double SimGridEngine::now() const { return s4u::Engine::get_clock() - origin_; }

}  // namespace tilerail
