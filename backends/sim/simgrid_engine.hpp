#pragma once

#include <memory>

namespace simgrid::s4u {
class Engine;
}

namespace tilerail {

/// The one SimGrid engine of the process, set up for machines (network model CM02: max-min fair sharing, no protocol
/// effects) and silent. It leaves the program's signal handlers, arguments and exit handlers alone.
class SimGridEngine {
 public:
  /// `resolution` in seconds: events closer together happen at the same instant.
  explicit SimGridEngine(double resolution);
  ~SimGridEngine();
  SimGridEngine(const SimGridEngine&) = delete;
  SimGridEngine& operator=(const SimGridEngine&) = delete;

  simgrid::s4u::Engine& get() { return *engine_; }
  double now() const;  // seconds since construction

 private:
  std::unique_ptr<simgrid::s4u::Engine> engine_;
  double origin_ = 0;  // SimGrid's clock at construction
};

}  // namespace tilerail
