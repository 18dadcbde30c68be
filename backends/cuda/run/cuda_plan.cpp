#include "backends/cuda/run/cuda_plan.hpp"

#include <utility>

#include "backends/cuda/run/cuda_check.hpp"
#include "model/base/indices.hpp"

namespace tilerail {

CudaPlan::CudaPlan(Plan given, cuda::StreamProgram mapped)
    : plan{std::move(given)}, hash{content_hash(plan)}, program{std::move(mapped)} {
  streams_of_issuer.resize(program.issuers.size());
  std::vector<bool> seen(program.streams.size(), false);
  for (const auto i : indices(program.steps)) {
    for (const cuda::StreamProgram::Step& step : program.steps[i]) {
      if (!seen[step.stream]) streams_of_issuer[i].push_back(step.stream);
      seen[step.stream] = true;
    }
  }
}

CudaPlan::~CudaPlan() {
  for (const cudaEvent_t event : events_) cudaEventDestroy(event);
}

void CudaPlan::create_events() {
  int current = -1;
  const cuda::DeviceScope restore{cuda::current_device()};
  events_.reserve(program.event_streams.size());
  for (const uint32_t stream : program.event_streams) {
    if (ordinals[stream] != current) {
      current = ordinals[stream];
      cuda::check(cudaSetDevice(current), "choosing a device");
    }
    cudaEvent_t event = nullptr;
    cuda::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                "creating an event");
    events_.push_back(event);
  }
}

std::vector<cuda::StreamOnDevice> CudaPlan::streams_on_devices() const {
  std::vector<cuda::StreamOnDevice> places;
  for (const auto s : indices(streams)) places.push_back({ordinals[s], streams[s]});
  return places;
}

}  // namespace tilerail
