#pragma once

#include <atomic>
#include <memory>

#include "backends/cuda/run/issuer_pool.hpp"

namespace tilerail::cuda {

/// Holds streams back until all work has been issued. Destroying the gate releases the
/// streams, which can still read its state afterwards: each hold keeps the state alive.
class Gate {
  using State = std::shared_ptr<std::atomic<bool>>;

 public:
  /// A host function for a stream (cudaLaunchHostFunc), which returns when the gate is
  /// open.
  struct Hold {
    void (*function)(void*);
    void* argument;
  };

  Gate() = default;
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Must run once, which frees its argument.
  Hold hold() const {
    return {[](void* argument) {
              const std::unique_ptr<const State> state{static_cast<State*>(argument)};
              spin_until([&] { return (*state)->load(); });
            },
            new State{open_}};
  }
  /// Frees the argument of a hold that does not run.
  static void drop(const Hold& hold) { delete static_cast<State*>(hold.argument); }
  void open() { *open_ = true; }
  std::weak_ptr<const void> state() const { return open_; }

 private:
  State open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace tilerail::cuda
