#include "backends/fluid/fluid_machine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tilerail {

FluidMachine::FluidMachine(const Topology& topology, const Options& options, Listener& listener)
    : listener_{listener},
      resolution_{options.resolution},
      shares_{topology, options.routes},
      gpus_(topology.memories().size()) {}

void FluidMachine::start_flow(Slot slot, size_t route, uint64_t bytes) {
  flows_.push_back({slot, double(bytes), 0, shares_.add(route)});
}

void FluidMachine::start_kernel(Slot slot, MemoryId gpu, double seconds, double share) {
  kernels_.push_back({slot, seconds * share, 0, 0, gpu.index(), share});
  kernels_changed_ = true;
}

void FluidMachine::wake_at(double date) {
  if (!wake_up_ || date < *wake_up_) wake_up_ = date;
}

/// Kernels get what they want where that fits on the GPU. Where it does not, those that want less than an equal part
/// leave the rest to the others.
void FluidMachine::share_gpus() {
  if (!std::exchange(kernels_changed_, false)) return;
  by_want_.clear();
  for (Activity& kernel : kernels_) by_want_.push_back(&kernel);
  std::ranges::sort(by_want_, {}, &Activity::share);
  std::ranges::fill(gpus_, Gpu{});
  for (const Activity* kernel : by_want_) ++gpus_[kernel->gpu].kernels;
  for (Activity* kernel : by_want_) {
    Gpu& gpu = gpus_[kernel->gpu];
    kernel->rate = std::min(kernel->share, gpu.free / gpu.kernels--);
    gpu.free -= kernel->rate;
  }
}

double FluidMachine::next_event() const {
  double least = wake_up_ ? std::max(0.0, *wake_up_ - now_) : std::numeric_limits<double>::infinity();
  for (const auto* running : {&kernels_, &flows_})
    for (const Activity& activity : *running) least = std::min(least, activity.left / activity.rate);
  return least;
}

void FluidMachine::advance(double seconds) {
  now_ += seconds;
  ended_.clear();
  advance(kernels_, seconds);
  kernels_changed_ = kernels_changed_ || !ended_.empty();
  const size_t kernels = ended_.size();
  advance(flows_, seconds);
  for (size_t i = kernels; i < ended_.size(); ++i) shares_.remove(ended_[i].flow);
}

/// What the resolution cannot tell from this moment ends now: rounding leaves a rest of activities that end together.
void FluidMachine::advance(std::vector<Activity>& running, double seconds) {
  auto kept = running.begin();
  for (Activity& activity : running) {
    activity.left -= activity.rate * seconds;
    if (activity.left <= activity.rate * resolution_) {
      ended_.push_back(activity);
    } else {
      if (&*kept != &activity) *kept = activity;
      ++kept;
    }
  }
  running.erase(kept, running.end());
}

void FluidMachine::run() {
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

}  // namespace tilerail
