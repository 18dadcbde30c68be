#include "backends/cuda/measure/counter_trace.hpp"

#include <algorithm>

namespace tilerail::cuda {

void CounterTrace::add(double time, double joules) {
  if (joules <= 0 || joules == last_) return;
  if (joules < last_) steps_.clear();
  if (last_ > 0 && joules > last_) steps_.push_back({time, joules});
  last_ = joules;
}

std::optional<double> CounterTrace::watts() const {
  if (span() < least_span) return std::nullopt;
  return (steps_.back().joules - steps_.front().joules) / span();
}

double CounterTrace::at(double time) const {
  const auto above = std::ranges::lower_bound(steps_, time, {}, &Step::time);
  if (above == steps_.begin()) return above->joules;
  if (above == steps_.end()) return steps_.back().joules;
  const auto below = above - 1;
  return below->joules + (time - below->time) / (above->time - below->time) *
                             (above->joules - below->joules);
}

std::optional<CountedEnergy> energy_of_calls(std::span<const CounterTrace> devices,
                                             std::span<const double> ends) {
  double from = 0, to = ends.empty() ? 0 : ends.back();
  for (const CounterTrace& device : devices) {
    if (device.steps().size() < 2) return std::nullopt;
    from = std::max(from, device.steps().front().time);
    to = std::min(to, device.steps().back().time);
  }
  const auto first = std::ranges::lower_bound(ends, from),
             after = std::ranges::upper_bound(ends, to);
  if (after - first < 2 || *(after - 1) - *first < CounterTrace::least_span)
    return std::nullopt;
  const double begin = *first, end = *(after - 1);
  CountedEnergy counted;
  counted.calls = int(after - first) - 1;
  counted.seconds = (end - begin) / counted.calls;
  for (const CounterTrace& device : devices)
    counted.joules.push_back(device.between(begin, end) / counted.calls);
  return counted;
}

}  // namespace tilerail::cuda
