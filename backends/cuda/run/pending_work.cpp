#include "backends/cuda/run/pending_work.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

PendingWork::~PendingWork() {
  for (const Mark& mark : ends_) cudaEventSynchronize(*mark.event);
}

PendingWork::Mark PendingWork::mark(const StreamOnDevice& place) {
  const DeviceScope scope{place.device};
  const auto spare = std::ranges::find_if(
      spare_, [&](const Mark& m) { return m.device == place.device; });
  Mark made{place.device, nullptr};
  if (spare != spare_.end()) {
    made = std::move(*spare);
    spare_.erase(spare);
  } else {
    made.event = std::make_unique<PlainEvent>();
  }
  check(cudaEventRecord(*made.event, place.stream), "recording an event");
  return made;
}

void PendingWork::follow(std::span<const StreamOnDevice> streams,
                         std::span<const Mark> marks) {
  for (const StreamOnDevice& place : streams) {
    const DeviceScope scope{place.device};
    for (const Mark& mark : marks)
      check(cudaStreamWaitEvent(place.stream, *mark.event, 0), "waiting for an event");
  }
}

void PendingWork::put_back(std::vector<Mark> marks) {
  spare_.insert(spare_.end(), std::make_move_iterator(marks.begin()),
                std::make_move_iterator(marks.end()));
}

/// The first stream waits for all earlier work, and the others wait for the first.
void PendingWork::begin(std::span<const StreamOnDevice> streams,
                        std::span<const StreamOnDevice> callers) {
  const auto first = streams.first(1), others = streams.subspan(1);
  std::vector<Mark> marks;
  for (const StreamOnDevice& caller : callers) marks.push_back(mark(caller));
  follow(first, marks);
  follow(first, ends_);
  if (!others.empty()) {
    marks.push_back(mark(first.front()));
    follow(others, std::span{marks}.last(1));
  }
  put_back(std::move(marks));
}

/// The first stream waits for the others.
void PendingWork::end(std::span<const StreamOnDevice> streams,
                      std::span<const StreamOnDevice> callers) {
  const auto first = streams.first(1);
  std::vector<Mark> marks;
  for (const StreamOnDevice& other : streams.subspan(1)) marks.push_back(mark(other));
  follow(first, marks);
  put_back(std::move(marks));
  std::vector<Mark> end;
  end.push_back(mark(first.front()));
  follow(callers, end);
  put_back(std::exchange(ends_, std::move(end)));
}

void PendingWork::wait() {
  cudaError_t worst = cudaSuccess;
  for (const Mark& mark : ends_)
    if (const cudaError_t status = cudaEventSynchronize(*mark.event);
        status != cudaSuccess)
      worst = status;
  put_back(std::exchange(ends_, {}));
  check(worst, "work submitted before");
}

}  // namespace tilerail::cuda
