#pragma once

#include <functional>
#include <optional>

namespace simgrid::s4u {
class Engine;
class NetZone;
}  // namespace simgrid::s4u

namespace tilerail {

/// The one SimGrid engine of the process: network model CM02 (max-min fair sharing, no
/// protocol effects). It is silent and leaves the program's signal handlers, arguments
/// and exit handlers as they are. SimGrid slows down with every engine that a process
/// makes, so this one is made on first use and kept; machines become zones of it.
///
/// One thread at a time may use it, whichever it is.
class SimGridEngine {
 public:
  static SimGridEngine& get();

  /// A zone for a new platform; it lives as long as the process. The caller seals it.
  simgrid::s4u::NetZone& new_zone();

  /// Starts a simulation: the clock stands at zero. Events closer together than
  /// `resolution` (s) are simultaneous. `at_each_time` is called whenever the clock has
  /// moved on, after SimGrid has marked what ends then; its argument says whether a date
  /// that was set by `wake_at` has come.
  void start(double resolution, std::function<void(bool woken)> at_each_time);
  /// Lets the clock stop at `date`, or earlier if an earlier one was set and has not
  /// come.
  void wake_at(double date);
  /// Returns when nothing is left to happen.
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
  std::optional<double> wake_up_;  // the earliest date set
};

}  // namespace tilerail
