#pragma once

#include <functional>
#include <optional>

namespace simgrid::s4u {
class Engine;
class NetZone;
}  // namespace simgrid::s4u

namespace tilerail {

/// The one SimGrid engine of the process: network model CM02 (max-min fair sharing, no
/// protocol effects). It prints nothing and leaves the program's signal handlers,
/// arguments and exit handlers unchanged. SimGrid slows down with every engine that a
/// process creates, so this one is created on first use and kept; machines become zones
/// of it.
///
/// Any thread can use it, but only one at a time.
class SimGridEngine {
 public:
  static SimGridEngine& get();

  /// A zone for a new platform; it lives as long as the process. The caller must seal it.
  simgrid::s4u::NetZone& new_zone();

  /// Starts a simulation at time zero. Events closer together than `resolution` (s) are
  /// simultaneous. `at_each_time` is called after each step of the clock, when SimGrid
  /// has marked the activities that end then; its argument is true if a date set by
  /// `wake_at` has come.
  void start(double resolution, std::function<void(bool woken)> at_each_time);
  /// Stops the clock at `date`, or earlier if an earlier date is pending.
  void wake_at(double date);
  /// Returns when no event is left.
  void run();
  void stop() { at_each_time_ = nullptr; }

  double now() const { return now_; }  // seconds since start()
  simgrid::s4u::Engine& engine() { return *engine_; }

 private:
  class Steps;

  SimGridEngine();
  void advance(double seconds);

  simgrid::s4u::Engine* engine_;
  simgrid::s4u::NetZone* root_;
  std::function<void(bool)> at_each_time_;
  int zones_ = 0;
  double now_ = 0, resolution_ = 0;
  std::optional<double> wake_up_;  // the earliest date that was set
};

}  // namespace tilerail
