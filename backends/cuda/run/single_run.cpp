#include "backends/cuda/run/single_run.hpp"

#include <boost/container/small_vector.hpp>

#include <chrono>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/issue_op.hpp"
#include "plan/buffer_start.hpp"
#include "plan/describe.hpp"

namespace tilerail::cuda {

CudaRunTimes run_single(CudaPlan& bound, Device& device, const Matrices& matrices,
                        bool own_stream) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto since_start = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const DeviceScope scope{device.ordinal()};
  Target target{bound.streams.front(), bound.handles.front(), bound.scalars.front()};
  if (!own_stream) {
    if (const cublasHandle_t handle = device.default_stream_handle())
      target.stream = cudaStreamLegacy, target.handle = handle;
    else
      check(cudaStreamSynchronize(cudaStreamLegacy), "waiting for the caller's work");
  }
  boost::container::small_vector<std::byte*, 8> buffers;
  for (const Buffer& buffer : bound.plan.buffers)
    buffers.push_back(start_of(buffer, {}, matrices));
  CudaRunTimes times;
  try {
    issue_op(bound.plan, bound.plan.ops.front(), {buffers.data(), buffers.size()},
             target);
    times.issue = times.issue_per_op = since_start();
    check(cudaStreamSynchronize(target.stream), "a kernel");
  } catch (const CudaError& error) {
    throw CudaError{describe(bound.plan, OpId{0}) + ": " + error.what()};
  }
  times.wall = since_start();
  return times;
}

}  // namespace tilerail::cuda
