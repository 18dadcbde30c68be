#include "backends/cuda/measure/power_watch.hpp"

#include <chrono>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/threads.hpp"

namespace tilerail::cuda {
namespace {

constexpr std::chrono::milliseconds pause{3};  // far below the 20 to 100 ms between steps

}  // namespace

PowerWatch::PowerWatch(const PowerMeter& meter, std::vector<int> devices)
    : meter_{meter},
      devices_{std::move(devices)},
      traces_(devices_.size()),
      thread_{start_thread([this] { watch(); })} {}

PowerWatch::~PowerWatch() { join(); }

std::vector<CounterTrace> PowerWatch::stop() {
  join();
  return std::move(traces_);
}

void PowerWatch::watch() {
  while (!stopped_) {
    for (const auto d : indices(devices_)) {
      const double joules = meter_.joules(devices_[d]);
      traces_[d].add(now(), joules);
    }
    std::this_thread::sleep_for(pause);
  }
}

void PowerWatch::join() {
  stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace tilerail::cuda
