// Streams that wait until all work is issued.
#include "backends/cuda/measure/hold_stream.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/cuda/gpu/gpu_fixture.hpp"

namespace tilerail {
namespace {

/// An error destroys the gate before the stream has started to wait for it, because the
/// stream first waits for another gate.
TEST_F(Gpu, AHeldStreamContinuesAfterAnErrorDestroysItsGate) {
  cudaStream_t stream = nullptr;
  cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
              "creating a stream");
  for (int round = 0; round < 20; ++round) {
    cuda::Gate before;
    cuda::hold_stream(before, stream);
    std::weak_ptr<const void> kept;
    const auto issue = [&] {
      cuda::Gate gate;
      kept = gate.state();
      cuda::hold_stream(gate, stream);
      throw cuda::CudaError{"an operation that fails"};
    };
    EXPECT_THROW(issue(), cuda::CudaError);
    EXPECT_FALSE(kept.expired()) << "the stream looks at memory that is freed";
    before.open();
    cuda::check(cudaStreamSynchronize(stream), "waiting");
    EXPECT_TRUE(kept.expired()) << "memory is left";
  }
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace tilerail
