#include "backends/cuda/run/executor_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "backends/cuda/run/check_place.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/peer_access.hpp"
#include "backends/cuda/run/pinned_memory.hpp"
#include "backends/cuda/run/plan_run.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/memory_shortage.hpp"
#include "plan/buffer_start.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

constexpr int nan_byte = 0xFF;  // all bytes 0xFF is a NaN in every dtype

std::string gigabytes(int64_t bytes) {
  return fmt::format("{:.2f} GB", 1e-9 * double(bytes));
}

}  // namespace

CudaExecutor::State::State(Topology topology, CudaOptions options)
    : topology_{std::move(topology)},
      options_{std::move(options)},
      there_{cuda::device_count()},
      host_arenas_{cuda::pinned_memory()} {
  if (there_ == 0)
    throw HardwareError{"this machine has no CUDA device, or no driver for it"};
  if (!options_.ordinals.empty() && options_.ordinals.size() != topology_.gpus().size())
    throw InputError{
        "devices", std::to_string(options_.ordinals.size()), "are given",
        fmt::format("{}, the GPUs of '{}'", topology_.gpus().size(), topology_.name())};
  devices_.resize(topology_.memories().size());
}

int CudaExecutor::State::ordinal(MemoryId gpu) const {
  if (options_.ordinals.empty()) return topology_.processor(gpu).device;
  for (const auto i : indices(options_.ordinals))
    if (topology_.gpus()[i] == gpu) return options_.ordinals[i];
  throw InputError{"devices", topology_.memory(gpu).name, "is not a GPU"};
}

cuda::Device& CudaExecutor::State::device(MemoryId gpu) {
  auto& slot = devices_[gpu.index()];
  if (slot) return *slot;
  const int number = ordinal(gpu);
  if (number < 0 || number >= there_)
    throw HardwareError{fmt::format("'{}' is CUDA device {}; this machine has {}",
                                    topology_.memory(gpu).name, number, there_)};
  try {
    slot = std::make_unique<cuda::Device>(number);
  } catch (const cuda::CudaError& error) {
    throw HardwareError{error.what()};
  }
  return *slot;
}

/// Opens direct access for every pair of devices that the plan copies between.
void CudaExecutor::State::open_peers(const Plan& plan) {
  for (const Queue& queue : plan.queues) {
    if (queue.kind != Queue::Kind::copy || topology_.is_host(queue.src) ||
        topology_.is_host(queue.dst))
      continue;
    if (queue.src == queue.dst) continue;
    const int src = device(queue.src).ordinal(), dst = device(queue.dst).ordinal();
    if (src == dst) continue;  // one device can stand for several GPUs
    for (const auto& [user, owner] : {std::pair{src, dst}, std::pair{dst, src}}) {
      if (peers_.contains({user, owner})) continue;
      if (!cuda::open_peer_access(user, owner))
        throw HardwareError{
            fmt::format("CUDA device {} has no peer access to device {}, but the "
                        "topology '{}' routes copies between them",
                        user, owner, topology_.name())};
      peers_[{user, owner}] = true;
    }
  }
}

void CudaExecutor::State::refuse(const Plan& plan, MemoryId gpu,
                                 int64_t available) const {
  const int64_t bytes = plan.peak_bytes[gpu.index()];
  const double capacity =
      topology_.memory(gpu).capacity.value_or(Bytes{double(bytes)}).value;
  throw MemoryShortage{
      plan.memories[gpu.index()], gigabytes(bytes),
      fmt::format("are needed for tiles, and {} are free", gigabytes(available)),
      fmt::format("a memory fraction of at most {:.2f}",
                  std::floor(90 * double(available) / capacity) / 100)};
}

void CudaExecutor::State::reserve_arenas(const Plan& plan) {
  for (const auto m : indices(plan.peak_bytes)) {
    const int64_t bytes = plan.peak_bytes[m];
    if (bytes == 0 || topology_.is_host(MemoryId{m})) continue;
    cuda::Device& d = device(MemoryId{m});
    if (bytes <= d.arena_bytes()) continue;
    pending_.wait();
    const int64_t available = d.available_bytes();
    if (bytes > available || !d.reserve(bytes)) refuse(plan, MemoryId{m}, available);
  }
}

void CudaExecutor::State::reserve(std::span<const MemoryId> gpus, int64_t bytes,
                                  int compute_streams) {
  pending_.wait();
  for (const MemoryId gpu : gpus) {
    cuda::Device& d = device(gpu);
    const int64_t available = d.available_bytes();
    if (bytes > available || !d.reserve(bytes))
      throw InputError{
          topology_.memory(gpu).name, gigabytes(bytes),
          fmt::format("cannot be reserved, and {} are free", gigabytes(available))};
    d.open_streams(size_t(compute_streams), 0);
  }
}

void CudaExecutor::State::free_arenas() {
  pending_.wait();
  for (const auto& opened : devices_)
    if (opened) opened->free_arena();
}

/// Call before an arena leaves no memory for the streams of the plan.
void CudaExecutor::State::check_room(const Plan& plan, MemoryId gpu,
                                     size_t compute_streams) {
  cuda::Device& d = device(gpu);
  if (compute_streams <= d.compute_streams()) return;
  const int64_t room = d.room_for_tiles(compute_streams);
  if (plan.peak_bytes[gpu.index()] > room) refuse(plan, gpu, room);
}

void CudaExecutor::State::reserve_host(const Plan& plan) {
  const auto on_host = [&](size_t m) {
    return plan.peak_bytes[m] > 0 && topology_.is_host(MemoryId{m});
  };
  for (const auto m : indices(plan.peak_bytes))
    if (on_host(m)) pending_.wait();  // growing an arena frees the old one
  host_arenas_.reserve(plan, topology_);
}

/// Also opens arenas, after checking that both fit.
void CudaExecutor::State::open_streams(CudaPlan& made) {
  std::vector<std::array<size_t, 2>> slots(
      topology_.memories().size());  // by memory: copy, compute
  for (const auto& stream : made.program.streams) {
    size_t& count = slots[stream.device.index()][stream.compute ? 1 : 0];
    count = std::max(count, size_t(stream.slot) + 1);
  }
  for (const auto m : indices(slots))
    if (slots[m][1] > 0) check_room(made.plan, MemoryId{m}, slots[m][1]);
  reserve_arenas(made.plan);
  for (const auto m : indices(slots))
    if (slots[m][0] + slots[m][1] > 0)
      device(MemoryId{m}).open_streams(slots[m][1], slots[m][0]);
  for (const auto& stream : made.program.streams) {
    cuda::Device& d = device(stream.device);
    const auto slot = size_t(stream.slot);
    made.ordinals.push_back(d.ordinal());
    made.streams.push_back(stream.compute ? d.compute_stream(slot) : d.copy_stream(slot));
    made.handles.push_back(stream.compute ? d.handle(slot) : nullptr);
    made.scalars.push_back(stream.compute ? d.scalar(slot) : nullptr);
  }
}

std::shared_ptr<CudaPlan> CudaExecutor::State::prepare(const Plan& plan) {
  validate(plan, topology_);
  require_kernels(plan, true);
  auto made = std::make_shared<CudaPlan>(plan, cuda::stream_program(plan, topology_));
  if (made->program.has_lanes() && !options_.on_host)
    throw fault_of("plan", "computes on cores or copies between hosts",
                   "operations with a GPU");
  open_peers(plan);
  open_streams(*made);
  reserve_host(plan);
  made->create_events();
  pool_.grow(made->program.issuers.size());
  return made;
}

/// By MemoryId: start of its tiles.
std::vector<std::byte*> CudaExecutor::State::arenas() const {
  std::vector<std::byte*> starts(devices_.size(), nullptr);
  for (const auto m : indices(starts))
    starts[m] = devices_[m] ? devices_[m]->arena() : host_arenas_.data(MemoryId{m});
  return starts;
}

void CudaExecutor::State::check_place_of(const Buffer& buffer, const Plan& plan,
                                         const Matrices& matrices) const {
  if (buffer.in_arena || buffer.rows == 0 || buffer.cols == 0) return;
  const auto device = topology_.is_host(buffer.memory)
                          ? std::nullopt
                          : std::optional{ordinal(buffer.memory)};
  cuda::check_place(plan.tensor(buffer.tensor).name,
                    matrices.of(buffer.tensor, buffer.memory), device,
                    plan.memories[buffer.memory.index()]);
}

std::vector<std::byte*> CudaExecutor::State::starts_of(const Plan& plan,
                                                       const Matrices& matrices) const {
  const std::vector<std::byte*> bases = arenas();
  std::vector<std::byte*> starts;
  starts.reserve(plan.buffers.size());
  for (const Buffer& buffer : plan.buffers) {
    check_place_of(buffer, plan, matrices);
    starts.push_back(start_of(buffer, bases, matrices));
  }
  return starts;
}

cuda::GraphValues CudaExecutor::State::values_of(const Plan& plan,
                                                 std::vector<std::byte*> starts,
                                                 AllocationIds allocations) const {
  cuda::GraphValues values{
      std::move(starts), plan.gemm().alpha, plan.gemm().beta, std::move(allocations), {}};
  for (const auto m : indices(plan.peak_bytes))
    if (plan.peak_bytes[m] > 0)
      values.arenas.push_back(devices_[m] ? devices_[m]->arena_number()
                                          : host_arenas_.number(MemoryId{m}));
  return values;
}

void CudaExecutor::State::poison(const Plan& plan) const {
  for (const auto m : indices(plan.peak_bytes))
    if (devices_[m] && plan.peak_bytes[m] > 0)
      devices_[m]->fill_arena(nan_byte, plan.peak_bytes[m]);
    else if (std::byte* const tiles = host_arenas_.data(MemoryId{m}))
      std::memset(tiles, nan_byte, size_t(plan.peak_bytes[m]));
}

CudaRunTimes CudaExecutor::State::run(CudaPlan& plan, const Matrices& matrices,
                                      cuda::PageableMatrices pageable,
                                      const std::optional<AllocationIds>& lasting,
                                      cuda::Tracer* tracer) {
  pending_.wait();
  reserve_arenas(plan.plan);
  if (options_.poison) poison(plan.plan);
  const std::vector<std::byte*> starts = starts_of(plan.plan, matrices);
  if (!pageable.any()) {
    if (lasting && plan.plan.graph && !plan.program.has_lanes())
      if (const auto times =
              cuda::run_as_graph(plan, values_of(plan.plan, starts, *lasting), tracer))
        return *times;
    return cuda::PlanRun{plan, starts, tracer, nullptr, options_.on_host}.run(pool_);
  }
  std::vector<int> ordinals;
  for (const auto m : indices(topology_.memories()))
    ordinals.push_back(topology_.is_gpu(MemoryId{m}) ? ordinal(MemoryId{m}) : -1);
  cuda::StagedCopies staged{staging_, plan.plan, pageable, starts, ordinals};
  return cuda::PlanRun{plan, starts, tracer, &staged, options_.on_host}.run(pool_);
}

CudaRunTimes CudaExecutor::State::submit(CudaPlan& plan, const Matrices& matrices,
                                         std::span<const cuda::StreamOnDevice> callers,
                                         const std::optional<AllocationIds>& lasting) {
  if (plan.program.has_lanes())
    throw fault_of("plan", "computes on cores or copies between hosts",
                   "a run that is waited for");
  reserve_arenas(plan.plan);
  const std::vector<std::byte*> starts = starts_of(plan.plan, matrices);
  std::vector<cuda::StreamOnDevice> streams = plan.streams_on_devices();
  const cuda::PlanGraph* graph = nullptr;
  try {
    if (lasting && plan.plan.graph)
      graph = cuda::graph_of_run(plan, values_of(plan.plan, starts, *lasting));
    if (graph) streams.resize(1);  // a graph runs in the first stream
    pending_.begin(streams, callers);
    const CudaRunTimes times =
        graph ? graph->hand_over()
              : cuda::PlanRun{plan, starts, nullptr}.hand_over(pool_);
    pending_.end(streams, callers);
    return times;
  } catch (...) {  // no part of it keeps running unnoticed
    if (graph) plan.runs.give_up();
    for (const auto& opened : devices_)
      if (opened) opened->wait();
    throw;
  }
}

/// CUPTI has no records of host functions, so plans with lanes are traced by events.
cuda::Tracer& CudaExecutor::State::tracer(const CudaPlan& plan) {
  const bool by_events = options_.trace == CudaTrace::events || plan.program.has_lanes();
  if (tracer_ && (!by_events || std::string_view{tracer_->name()} != "CUPTI"))
    return *tracer_;
  std::string why;
  tracer_.reset();
  if (!by_events) tracer_ = cuda::make_cupti_tracer(why);
  if (!tracer_ && !by_events && options_.trace == CudaTrace::cupti)
    throw HardwareError{why};
  if (!tracer_) tracer_ = cuda::make_event_tracer();
  return *tracer_;
}

}  // namespace tilerail
