#include "backends/cuda/run/cuda_executor.hpp"

#include <utility>

#include "backends/cuda/run/executor_state.hpp"
#include "backends/cuda/run/single_run.hpp"
#include "backends/cuda/run/start_at_zero.hpp"

namespace tilerail {

CudaExecutor::CudaExecutor(Topology topology, CudaOptions options)
    : state_{std::make_unique<State>(std::move(topology), std::move(options))} {}

CudaExecutor::~CudaExecutor() = default;

void CudaExecutor::reserve(std::span<const MemoryId> gpus, int64_t bytes,
                           int compute_streams) {
  state_->reserve(gpus, bytes, compute_streams);
}

int64_t CudaExecutor::room_for_tiles(MemoryId gpu, int compute_streams) {
  try {
    return state_->device(gpu).room_for_tiles(size_t(compute_streams));
  } catch (const std::runtime_error&) {  // for example, not enough memory for a context
    return 0;
  }
}

std::shared_ptr<CudaPlan> CudaExecutor::prepare(const Plan& plan) {
  return state_->prepare(plan);
}

CudaRunTimes CudaExecutor::run_single(CudaPlan& plan, const Matrices& matrices,
                                      bool own_stream) {
  state_->wait();
  return cuda::run_single(plan, state_->device(plan.plan.devices.front()), matrices,
                          own_stream);
}

CudaRunTimes CudaExecutor::run(CudaPlan& plan, const Matrices& matrices,
                               cuda::PageableMatrices pageable,
                               const std::optional<AllocationIds>& lasting) {
  if (state_->tracer_) state_->tracer_->pause();
  return state_->run(plan, matrices, pageable, lasting, nullptr);
}

CudaRunTimes CudaExecutor::submit(CudaPlan& plan, const Matrices& matrices,
                                  std::span<const cuda::StreamOnDevice> callers,
                                  const std::optional<AllocationIds>& lasting) {
  if (state_->tracer_) state_->tracer_->pause();
  return state_->submit(plan, matrices, callers, lasting);
}

void CudaExecutor::wait() { state_->wait(); }

void CudaExecutor::free_arenas() { state_->free_arenas(); }

Timeline CudaExecutor::run_traced(CudaPlan& plan, const Matrices& matrices,
                                  CudaRunTimes* times) {
  cuda::Tracer& tracer = state_->tracer(plan);
  tracer.begin({plan.plan, plan.program, plan.streams, plan.ordinals});
  CudaRunTimes seen;
  try {
    seen = state_->run(plan, matrices, {}, AllocationIds{}, &tracer);
  } catch (...) {
    tracer.abandon();
    throw;
  }
  Timeline timeline{"cuda", plan.hash, tracer.end()};
  cuda::start_at_zero(timeline.ops);
  seen.clock_skew = tracer.clock_skew();
  if (times) *times = seen;
  return timeline;
}

void CudaExecutor::set_matrices(const Matrices& matrices) {
  state_->matrices_ = matrices;
}

Timeline CudaExecutor::execute(const Plan& plan) {
  if (!state_->last_ || state_->last_->hash != content_hash(plan))
    state_->last_ = prepare(plan);
  return run_traced(*state_->last_, state_->matrices_);
}

const Topology& CudaExecutor::topology() const { return state_->topology_; }

int CudaExecutor::ordinal(MemoryId gpu) const { return state_->ordinal(gpu); }

std::string CudaExecutor::tracer() const {
  return state_->tracer_ ? state_->tracer_->name() : "";
}

}  // namespace tilerail
