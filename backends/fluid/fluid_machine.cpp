#include <algorithm>
#include <limits>
#include <utility>

#include "backends/fluid/simulation.hpp"
#include "model/machine/fair_shares.hpp"

namespace tilerail {
namespace {

/// A machine in model time without SimGrid. Simulations are independent, so threads can
/// run them simultaneously. Times equal SimGrid's up to rounding.
class FluidMachine final : public SharedMachine {
 public:
  FluidMachine(const Topology& topology, const Options& options, Listener& listener)
      : listener_{listener},
        resolution_{options.resolution},
        shares_{topology, options.routes},
        gpus_(topology.memories().size()) {}

  double now() const override { return now_; }

  void start_flow(Slot slot, size_t route, uint64_t bytes) override {
    flows_.push_back({slot, double(bytes), 0, shares_.add(route)});
  }

  void start_kernel(Slot slot, MemoryId gpu, double seconds, double share) override {
    kernels_.push_back({slot, seconds * share, 0, 0, gpu.index(), share});
    kernels_changed_ = true;
  }

  void wake_at(double date) override {
    wake_up_ = std::min(date, wake_up_.value_or(date));
  }

  void run() override {
    while (!kernels_.empty() || !flows_.empty() || wake_up_) {
      if (shares_.update())
        for (Activity& flow : flows_) flow.rate = shares_.rate(flow.flow);
      share_gpus();
      advance(next_event());
      const bool woken = wake_up_ && *wake_up_ <= now_ + resolution_;
      if (woken) wake_up_.reset();
      std::ranges::sort(ended_, {}, &Activity::slot);
      for (const Activity& activity : ended_) listener_.activity_ended(activity.slot);
      if (woken || !ended_.empty()) listener_.instant();
    }
  }

 private:
  struct Activity {
    Slot slot;
    double left;                // bytes, or seconds of the whole GPU
    double rate = 0;            // of `left` per second
    FairShares::Flow flow = 0;  // of flows only
    size_t gpu = 0;             // of kernels only
    double share = 0;
  };
  struct Gpu {
    double free = 1;
    int kernels = 0;  // without a rate so far
  };

  /// Each kernel gets its share if all shares fit on the GPU. Otherwise kernels whose
  /// share is less than an equal part leave the rest to the others.
  void share_gpus() {
    if (!std::exchange(kernels_changed_, false)) return;
    by_want_.clear();
    std::ranges::fill(gpus_, Gpu{});
    for (Activity& kernel : kernels_) {
      by_want_.push_back(&kernel);
      ++gpus_[kernel.gpu].kernels;
    }
    std::ranges::sort(by_want_, {}, &Activity::share);
    for (Activity* kernel : by_want_) {
      Gpu& gpu = gpus_[kernel->gpu];
      kernel->rate = std::min(kernel->share, gpu.free / gpu.kernels--);
      gpu.free -= kernel->rate;
    }
  }

  double next_event() const {
    double least = wake_up_ ? std::max(0.0, *wake_up_ - now_)
                            : std::numeric_limits<double>::infinity();
    for (const auto* running : {&kernels_, &flows_})
      for (const Activity& activity : *running)
        least = std::min(least, activity.left / activity.rate);
    return least;
  }

  void advance(double seconds) {
    now_ += seconds;
    ended_.clear();
    advance(kernels_, seconds);
    kernels_changed_ = kernels_changed_ || !ended_.empty();
    const size_t kernels = ended_.size();
    advance(flows_, seconds);
    for (size_t i = kernels; i < ended_.size(); ++i) shares_.remove(ended_[i].flow);
  }

  /// Activities within the resolution of this moment end now: rounding leaves a remainder
  /// in activities that end together.
  void advance(std::vector<Activity>& running, double seconds) {
    for (Activity& activity : running) activity.left -= activity.rate * seconds;
    std::erase_if(running, [this](const Activity& activity) {
      const bool ends = activity.left <= activity.rate * resolution_;
      if (ends) ended_.push_back(activity);
      return ends;
    });
  }

  Listener& listener_;
  double resolution_, now_ = 0;
  std::optional<double> wake_up_;          // the earliest date that was set
  std::vector<Activity> kernels_, flows_;  // running, in the order of their starts
  std::vector<Activity> ended_;            // activities that ended in the last step
  std::vector<Activity*> by_want_;         // kernels
  FairShares shares_;
  bool kernels_changed_ = false;
  std::vector<Gpu> gpus_;  // by memory
};

}  // namespace

std::vector<OpTime> simulate_fluid(const Plan& plan, const Topology& topology,
                                   const SimOptions& options) {
  const auto machine = [](const Topology& t, const SharedMachine::Options& o,
                          SharedMachine::Listener& listener) {
    return std::make_unique<FluidMachine>(t, o, listener);
  };
  return simulate(plan, topology, options, machine);
}

}  // namespace tilerail
