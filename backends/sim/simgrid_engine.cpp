#include "backends/sim/simgrid_engine.hpp"

#include <signal.h>

#include <simgrid/s4u.hpp>

#include <simgrid/kernel/resource/Model.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "backends/sim/simgrid_versions.hpp"
#include "model/base/threads.hpp"

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;

/// Restores the signal handlers and the signal stack, which the constructor of a SimGrid
/// engine replaces.
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

/// The first engine of a process parses its arguments as SimGrid options; it does not see
/// the program's arguments.
s4u::Engine* new_engine() {
  char name[] = "tilerail", no_exit_handler[] = "--cfg=debug/clean-atexit:0";
  char* arguments[] = {name, no_exit_handler, nullptr};
  int count = 2;
  return new s4u::Engine(&count, arguments);
}

/// The network model is fixed with the first zone. Full updates count down the remaining
/// work of each activity; lazy updates, SimGrid's default, keep the date of its end,
/// whose rounding grows with the clock.
void configure() {
  s4u::Engine::set_config("network/model", std::string{"CM02"});
  s4u::Engine::set_config("network/TCP-gamma",
                          -1.0);  // the default limits a flow to gamma / (2 latency)
  s4u::Engine::set_config("network/crosstraffic",
                          false);  // no acknowledgements in the reverse direction
  for (const char* option : {"cpu/optim", "network/optim"})
    s4u::Engine::set_config(option, std::string{"Full"});
  for (const char* option :
       {"cpu/maxmin-selective-update", "network/maxmin-selective-update"})
    s4u::Engine::set_config(option,
                            true);  // shares that a change cannot affect stay the same
}

/// SimGrid seals the platform of the first run of a process only: after a run of an empty
/// platform, zones can be added at any time.
void run_empty_platform() {
  s4u::Engine* first = new_engine();
  configure();
  simgrid_versions::root_zone(*first);
  first->run();
  delete first;
}

}  // namespace

/// A model without activities, asked after all others. It ends a step at the wake-up
/// (SimGrid's timers are dates of its clock). It also ends activities within the
/// resolution of that moment, because rounding leaves a remainder in activities that end
/// together.
class SimGridEngine::Steps final : public simgrid::kernel::resource::Model {
 public:
  explicit Steps(const SimGridEngine& engine) : Model{"steps"}, engine_{engine} {}

  double next_occurring_event(double) override {
    return engine_.wake_up_ ? std::max(0.0, *engine_.wake_up_ - engine_.now_) : -1.0;
  }

  void update_actions_state(double, double) override {
    for (Model* model : engine_.engine_->get_all_models()) {
      auto& running = *model->get_started_action_set();
      for (auto next = running.begin(); next != running.end();) {
        auto& action = *next++;  // finish() takes the action out of the set
        if (action.get_remains_no_update() <= action.get_rate() * engine_.resolution_) {
          action.finish(simgrid::kernel::resource::Action::State::FINISHED);
        }
      }
    }
  }

 private:
  const SimGridEngine& engine_;
};

/// The thread that creates an engine is its maestro, and whenever an activity ends,
/// SimGrid searches the list of all activities that the maestro has started. Hence a
/// thread that ends here creates the engine, so that the list contains no simulation.
SimGridEngine& SimGridEngine::get() {
  static SimGridEngine* const engine =
      [] {  // never deleted: SimGrid's statics may have been destroyed before
        SimGridEngine* made = nullptr;
        run_together(2, [&](size_t thread) {
          if (thread == 1) made = new SimGridEngine;
        });
        return made;
      }();
  return *engine;
}

SimGridEngine::SimGridEngine() {
  if (s4u::Engine::has_instance())
    throw std::logic_error{"the process already has a SimGrid engine of its own"};
  const SignalGuard guard;
  xbt_log_control_set("root.thresh:critical");
  run_empty_platform();
  engine_ = new_engine();
  root_ = simgrid_versions::root_zone(*engine_);
  engine_->add_model(std::make_shared<Steps>(*this));
  s4u::Engine::on_time_advance_cb([this](double seconds) { advance(seconds); });
}

s4u::NetZone& SimGridEngine::new_zone() {
  return *simgrid_versions::add_zone(*root_, "machine " + std::to_string(zones_++));
}

/// SimGrid's clock continues from one simulation to the next. Sums of times round
/// differently far from zero, so a plan's second simulation would differ from its first
/// in the last bits. Hence a separate clock, the sum of steps; SimGrid computes steps
/// from the remaining work of activities, not from dates.
void SimGridEngine::start(double resolution, std::function<void(bool)> at_each_time) {
  now_ = 0;
  resolution_ = resolution;
  wake_up_.reset();
  s4u::Engine::set_config(simgrid_versions::timing_precision, resolution);
  s4u::Engine::set_config(simgrid_versions::sharing_precision,
                          1e-12);  // relative; the default of 1e-5 is visible in the
                                   // times
  at_each_time_ = std::move(at_each_time);
}

void SimGridEngine::wake_at(double date) {
  if (!wake_up_ || date < *wake_up_) wake_up_ = date;
}

void SimGridEngine::advance(double seconds) {
  now_ += seconds;
  const bool woken = wake_up_ && *wake_up_ <= now_ + resolution_;
  if (woken) wake_up_.reset();
  if (at_each_time_) at_each_time_(woken);
}

void SimGridEngine::run() { engine_->run(); }

}  // namespace tilerail
