#include "backends/cuda/run/single_run.hpp"

#include <boost/container/small_vector.hpp>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/issue_op.hpp"
#include "model/base/timer.hpp"
#include "plan/buffer_start.hpp"
#include "plan/describe.hpp"

namespace tilerail::cuda {

CudaRunTimes run_single(CudaPlan& bound, Device& device, const Matrices& matrices,
                        bool own_stream) {
  const Timer timer;
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
    times.issue = times.issue_per_op = timer.seconds();
    check(cudaStreamSynchronize(target.stream), "a kernel");
  } catch (const CudaError& error) {
    throw CudaError{describe(bound.plan, OpId{0}) + ": " + error.what()};
  }
  times.wall = timer.seconds();
  return times;
}

}  // namespace tilerail::cuda
