#pragma once

#include <atomic>
#include <memory>

#include "backends/cuda/run/issuer_pool.hpp"

namespace tilerail::cuda {

/// Holds streams back until everything has been issued. Streams are released when the
/// gate is destroyed, after which they may still look at it: each keeps what it looks at.
class Gate {
  using State = std::shared_ptr<std::atomic<bool>>;

 public:
  /// A function of the host that a stream runs (cudaLaunchHostFunc), which returns when
  /// the gate is open.
  struct Hold {
    void (*function)(void*);
    void* argument;
  };

  Gate() = default;
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// To be run once; what it keeps is freed then.
  Hold hold() const {
    return {[](void* argument) {
              const std::unique_ptr<const State> state{static_cast<State*>(argument)};
              spin_until([&] { return (*state)->load(); });
            },
            new State{open_}};
  }
  /// Frees what a hold keeps that is not run.
  static void drop(const Hold& hold) { delete static_cast<State*>(hold.argument); }
  void open() { *open_ = true; }
  std::weak_ptr<const void> state() const { return open_; }

 private:
  State open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace tilerail::cuda
