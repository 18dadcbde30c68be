#include "backends/host/measure/measure_cores.hpp"

#include "backends/host/run/run_op.hpp"
#include "calibration/mean.hpp"
#include "check/blas.hpp"
#include "check/random_matrix.hpp"
#include "model/base/timer.hpp"

namespace tilerail {
namespace {

constexpr int64_t sizes[] = {64, 128, 256, 512, 1024, 2048, 4096};
constexpr double seconds_per_size = 0.15;

SampleMean time_of(int64_t size, DType dtype) {
  const RandomMatrix a{size, size, size, dtype, 1}, b{size, size, size, dtype, 2};
  RandomMatrix c{size, size, size, dtype, 3};
  const host::GemmCall call{.dtype = dtype,
                            .m = size,
                            .n = size,
                            .k = size,
                            .a = a.data(),
                            .b = b.data(),
                            .c = c.data(),
                            .lda = size,
                            .ldb = size,
                            .ldc = size};
  host::gemm(call);  // starts the threads
  std::vector<double> times;
  for (const Timer all; times.size() < 3 || all.seconds() < seconds_per_size;) {
    const Timer one;
    host::gemm(call);
    times.push_back(one.seconds());
  }
  return mean_of(times);
}

}  // namespace

std::vector<CoreRun> measure_cores(size_t gpus) {
  host::use_blas_threads(host::threads_beside(gpus));
  std::vector<CoreRun> runs;
  for (const DType dtype : {DType::f64, DType::f32})
    for (const int64_t size : sizes) runs.push_back({dtype, size, time_of(size, dtype)});
  return runs;
}

}  // namespace tilerail
