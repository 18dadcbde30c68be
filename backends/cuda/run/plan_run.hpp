#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/run/cuda_plan.hpp"
#include "backends/cuda/run/issuer_pool.hpp"
#include "backends/cuda/run/staged_copies.hpp"
#include "backends/cuda/run/tracer.hpp"

namespace tilerail::cuda {

/// One execution of a bound plan. A thread can wait for another thread's event only after
/// its record has been issued, so threads publish their progress. All threads issue their
/// operations in the order of the plan, so the thread with the lowest operation never
/// waits for another.
class PlanRun {
 public:
  /// `buffers`: start of each buffer of the plan. `tracer` and `staged` can be null.
  /// `on_host`: for plans with lanes.
  PlanRun(CudaPlan& plan, std::span<std::byte* const> buffers, Tracer* tracer,
          StagedCopies* staged = nullptr, HostFunction on_host = {});

  /// Issues all operations, waits for them, and returns the times. Throws CudaError
  /// naming the failed operation, after all issued work has ended.
  CudaRunTimes run(IssuerPool& pool);

  /// Issues all operations, a single one from the calling thread, and returns the times
  /// until then. Throws the errors of `run`.
  CudaRunTimes hand_over(IssuerPool& pool);

  /// Issues all operations from the calling thread and returns, for streams that are
  /// being recorded. Can change the current device. Throws CudaError naming the failed
  /// operation.
  void record();

 private:
  struct alignas(64) Progress {
    std::atomic<int64_t> issued{
        0};  // operations of this issuer below this id were issued
    double issue_seconds = 0;
  };

  CudaRunTimes on_all_issuers(IssuerPool& pool, bool waited_for);
  void issue_all(size_t issuer, bool waited_for) noexcept;
  double issue_steps(size_t issuer, std::optional<OpId>& current);
  void wait_for_streams(size_t issuer);
  double issue_on_device(const StreamProgram::Step& step, int& current);
  double issue_step(const StreamProgram::Step& step);
  void issue_on_host(OpId op, cudaStream_t stream);
  void fail(std::optional<OpId> op, const std::string& what);

  CudaPlan& plan_;
  std::span<std::byte* const> buffers_;
  Tracer* tracer_;
  StagedCopies* staged_;
  HostFunction on_host_;
  std::vector<Progress> progress_;
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::string failure_;
};

}  // namespace tilerail::cuda
