#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "calibration/mean.hpp"

namespace tilerail::cuda {

/// Shares a time budget among figures: each can take an equal part of the remaining time,
/// so that cheap figures leave more for later ones.
class Stopwatch {
 public:
  Stopwatch(double seconds, size_t figures)
      : left_{figures}, end_{Clock::now() + Duration{seconds}} {}

  /// Counts a figure that is measured once, regardless of its time.
  void repeat_once() {
    if (left_ > 0) --left_;
  }

  /// Repeats one figure.
  SampleMean repeat_one(const std::function<double()>& measure) {
    return repeat([&] { return std::vector{measure()}; }).front();
  }
  /// Repeats one figure, or several that are measured together: `measure` returns a value
  /// for each. It is called at least three times, until the 95 % interval of the last
  /// figure is within 5 % of its mean or the part is spent.
  std::vector<SampleMean> repeat(const std::function<std::vector<double>()>& measure) {
    const auto begin = Clock::now();
    const Duration part = std::max(
        Duration{0}, Duration{end_ - begin} / double(std::max<size_t>(1, left_)));
    if (left_ > 0) --left_;
    std::vector<std::vector<double>> values;
    std::vector<SampleMean> means;
    for (bool settled = false; !settled;) {
      const std::vector<double> now = measure();
      values.resize(now.size());
      means.clear();
      for (size_t i = 0; i < now.size(); ++i) {
        values[i].push_back(now[i]);
        means.push_back(mean_of(values[i]));
      }
      const SampleMean& last = means.back();
      settled = last.count >= 3 &&
                (last.half_width <= target_half_width || Clock::now() - begin > part);
    }
    return means;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::duration<double>;
  size_t left_;
  std::chrono::time_point<Clock, Duration> end_;
};

}  // namespace tilerail::cuda
