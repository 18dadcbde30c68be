#include "backends/cuda/run/staged_copies.hpp"

#include <algorithm>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "model/base/threads.hpp"
#include "model/base/timer.hpp"

namespace tilerail::cuda {
namespace {

// docs/model.md#pageable-memory
constexpr size_t slot_bytes = size_t{2} << 20;  // copied at nearly full speed
constexpr std::array<size_t, 2> most_slots{
    48, 256};  // in: few, so that they stay in a cache; out: whole tiles of C

/// Most of the available cores fill slots: more bytes go to GPUs than come back.
std::array<size_t, 2> threads() {
  constexpr size_t issuing = 2, most_out = 16;  // the caller and the issuer
  const size_t cores = usable_cores().size();
  const size_t out = std::clamp<size_t>(cores / 4, 1, most_out);
  const size_t left = cores > out + issuing ? cores - out - issuing : 1;
  return {std::min(left, most_slots[0]), out};
}

}  // namespace

StagingMemory::~StagingMemory() {
  for (const auto& [key, events] : events_)
    for (const cudaEvent_t event : events) cudaEventDestroy(event);
}

std::array<StagingRing, 2> StagingMemory::rings(const StagingChunks& chunks) {
  const auto slots = [&](Direction direction) {
    return std::clamp<size_t>(chunks.of(direction).size(), 1,
                              most_slots[size_t(direction)]);
  };
  const size_t in = slots(Direction::in), out = slots(Direction::out);
  memory_.reserve(int64_t((in + out) * slot_bytes));
  return {StagingRing{memory_.data(), in, slot_bytes},
          StagingRing{memory_.data() + in * slot_bytes, out, slot_bytes}};
}

void StagingMemory::open(int device) {
  const DeviceScope scope{device};
  for (const Direction direction : {Direction::in, Direction::out}) {
    auto& events = events_[{device, direction}];
    while (events.size() < most_slots[size_t(direction)]) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
            "creating an event");
      events.push_back(event);
    }
  }
}

StagedCopies::StagedCopies(StagingMemory& memory, const Plan& plan,
                           PageableMatrices pageable, std::span<std::byte* const> starts,
                           std::span<const int> devices)
    : memory_{memory},
      plan_{plan},
      starts_{starts},
      chunks_{plan, pageable, starts, int64_t(slot_bytes)},
      rings_{memory.rings(chunks_)},
      devices_{[&] {
        std::array<std::vector<int>, 2> of_chunks;
        for (const Direction direction : {Direction::in, Direction::out})
          for (const StagingChunk& chunk : chunks_.of(direction)) {
            const View& on_gpu =
                plan.operands_of(plan.op(chunk.op))[direction == Direction::in ? 1 : 0];
            of_chunks[size_t(direction)].push_back(
                devices[plan.buffer(on_gpu.buffer).memory.index()]);
          }
        for (const auto& all : of_chunks)
          for (const int device : all) memory.open(device);
        return of_chunks;
      }()},
      staging_{chunks_, rings_,
               [this](Direction direction, size_t chunk) {
                 return has_ended(direction, chunk);
               },
               threads()} {}

bool StagedCopies::has(OpId op) const {
  const StagingChunks::Part part = chunks_.of(op);
  return part.begin != part.end;
}

/// Called by threads that have chosen no device yet: the first call of the runtime would
/// open device 0.
bool StagedCopies::has_ended(Direction direction, size_t chunk) {
  const auto which = size_t(direction);
  const int device = devices_[which][chunk];
  check(cudaSetDevice(device), "choosing a device");
  const cudaError_t status =
      cudaEventQuery(memory_.event(direction, rings_[which].slot_of(chunk), device));
  if (status == cudaErrorNotReady) return false;
  check(status, "a copy of pageable memory");
  return true;
}

double StagedCopies::issue(OpId id, cudaStream_t stream, int device) {
  const StagingChunks::Part part = chunks_.of(id);
  const View& view =
      plan_.operands_of(plan_.op(id))[part.direction == Direction::in ? 1 : 0];
  const Buffer& buffer = plan_.buffer(view.buffer);
  double waited = 0;
  for (size_t i = part.begin; i < part.end; ++i) {
    const StagingChunk& chunk = chunks_.of(part.direction)[i];
    const int64_t first = view.row + chunk.row + (view.col + chunk.col) * buffer.ld;
    const Block on_gpu{starts_[view.buffer.index()] + first * chunk.element, chunk.rows,
                       chunk.cols, buffer.ld};
    const Timer timer;
    const Block slot{staging_.await(part.direction, i), chunk.rows, chunk.cols,
                     chunk.rows};
    waited += timer.seconds();
    part.direction == Direction::in ? copy(slot, on_gpu, chunk.element, stream)
                                    : copy(on_gpu, slot, chunk.element, stream);
    const size_t number = rings_[size_t(part.direction)].slot_of(i);
    check(cudaEventRecord(memory_.event(part.direction, number, device), stream),
          "recording an event");
    staging_.issued(part.direction, i);
  }
  return waited;
}

}  // namespace tilerail::cuda
