#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/cuda_plan.hpp"
#include "backends/cuda/run/device.hpp"
#include "backends/cuda/run/host_arena.hpp"
#include "backends/cuda/run/issuer_pool.hpp"
#include "backends/cuda/run/pending_work.hpp"
#include "backends/cuda/run/staged_copies.hpp"
#include "backends/cuda/run/tracer.hpp"

namespace tilerail {

/// The resources of an executor: devices and their memory, issuing threads, and pending
/// work.
class CudaExecutor::State {
 public:
  State(Topology topology, CudaOptions options);

  int ordinal(MemoryId gpu) const;
  cuda::Device& device(MemoryId gpu);
  void reserve(std::span<const MemoryId> gpus, int64_t bytes, int compute_streams);
  void reserve_host(const Plan& plan);
  void reserve_arenas(const Plan& plan);
  std::shared_ptr<CudaPlan> prepare(const Plan& plan);
  CudaRunTimes run(CudaPlan& plan, const Matrices& matrices,
                   cuda::PageableMatrices pageable,
                   const std::optional<AllocationIds>& lasting, cuda::Tracer* tracer);
  CudaRunTimes submit(CudaPlan& plan, const Matrices& matrices,
                      std::span<const cuda::StreamOnDevice> callers,
                      const std::optional<AllocationIds>& lasting);
  void wait() { pending_.wait(); }
  void free_arenas();
  cuda::Tracer& tracer(const CudaPlan& plan);

  Topology topology_;
  CudaOptions options_;
  Matrices matrices_;
  std::unique_ptr<cuda::Tracer> tracer_;
  std::shared_ptr<CudaPlan> last_;  // of execute()

 private:
  void open_peers(const Plan& plan);
  [[noreturn]] void refuse(const Plan& plan, MemoryId gpu, int64_t available) const;
  void check_room(const Plan& plan, MemoryId gpu, size_t compute_streams);
  void open_streams(CudaPlan& made);
  std::vector<std::byte*> arenas() const;
  void check_place_of(const Buffer& buffer, const Plan& plan,
                      const Matrices& matrices) const;
  std::vector<std::byte*> starts_of(const Plan& plan, const Matrices& matrices) const;
  cuda::GraphValues values_of(const Plan& plan, std::vector<std::byte*> starts,
                              AllocationIds allocations) const;
  void poison(const Plan& plan) const;

  int there_;
  std::vector<std::unique_ptr<cuda::Device>> devices_;  // by MemoryId
  std::map<std::pair<int, int>, bool> peers_;
  cuda::HostArenas host_arenas_;
  cuda::StagingMemory staging_;
  cuda::IssuerPool pool_;
  cuda::PendingWork pending_;  // waits before the other members are destroyed
};

}  // namespace tilerail
