#include "backends/factory.hpp"

#include <array>
#include <string>
#include <vector>

#include "backends/host/run/host_executor.hpp"
#include "backends/simulator.hpp"
#include "model/base/error.hpp"
#ifdef TILERAIL_HAVE_CUDA
#include "backends/cuda/bench/cuda_bench.hpp"
#endif

namespace tilerail {
namespace {

constexpr const char* no_simulator =
    "this build has no simulator: it was configured without SimGrid";
constexpr const char* no_cuda = "this build has no CUDA backend";
constexpr std::string_view runs_plans = "a backend that runs plans";

struct RealBackend {
  std::string_view name;
  std::unique_ptr<RealExecutor> (*make)(const Topology&);  // null: not built
};

template <class Made>
std::unique_ptr<RealExecutor> make(const Topology& topology) {
  return std::make_unique<Made>(topology);
}

#ifdef TILERAIL_HAVE_CUDA
constexpr auto make_cuda = make<CudaBench>;
#else
constexpr auto make_cuda = nullptr;
#endif
constexpr std::array real_backends{RealBackend{"host", make<HostExecutor>},
                                   RealBackend{"cuda", make_cuda}};

/// Errors about an unknown name list `known` too.
const RealBackend& real_backend(std::string_view name, std::string_view what,
                                std::vector<std::string> known = {}) {
  for (const RealBackend& backend : real_backends) {
    known.emplace_back(backend.name);
    if (backend.name != name) continue;
    if (!backend.make) throw HardwareError{no_cuda};
    return backend;
  }
  throw unknown_name("backend", name, what, known);
}

}  // namespace

std::unique_ptr<Executor> make_executor(std::string_view name, const Topology& topology) {
  if (name == simulator_backend) {
    auto simulator = make_simulator(topology);
    if (!simulator) throw HardwareError{no_simulator};
    return simulator;
  }
  return real_backend(name, "a backend", {std::string{simulator_backend}}).make(topology);
}

std::unique_ptr<RealExecutor> make_real_executor(std::string_view name,
                                                 const Topology& topology) {
  return real_backend(name, runs_plans).make(topology);
}

void require_real_executor(std::string_view name) { real_backend(name, runs_plans); }

#ifdef TILERAIL_HAVE_CUDA
Measurements measure_gpus(const CudaCalibrationOptions& options) {
  return measure_cuda_machine(options);
}
#else
Measurements measure_gpus(const CudaCalibrationOptions&) { throw HardwareError{no_cuda}; }
#endif

}  // namespace tilerail
