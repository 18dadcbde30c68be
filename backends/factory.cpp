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

#ifdef TILERAIL_HAVE_CUDA
constexpr bool has_cuda = true;
std::unique_ptr<RealExecutor> make_cuda(const Topology& topology) {
  return std::make_unique<CudaBench>(topology);
}
Measurements measure_cuda(const CudaCalibrationOptions& options) {
  return measure_cuda_machine(options);
}
#else
constexpr bool has_cuda = false;
std::unique_ptr<RealExecutor> make_cuda(const Topology&) { return {}; }
Measurements measure_cuda(const CudaCalibrationOptions&) { return {}; }
#endif
std::unique_ptr<RealExecutor> make_host(const Topology& topology) {
  return std::make_unique<HostExecutor>(topology);
}

struct RealBackend {
  std::string_view name;
  bool built;
  std::unique_ptr<RealExecutor> (*make)(const Topology&);
};
constexpr std::array real_backends{RealBackend{"host", true, make_host},
                                   RealBackend{"cuda", has_cuda, make_cuda}};

constexpr const char* no_simulator =
    "this build has no simulator: it was configured without SimGrid";
constexpr const char* no_cuda = "this build has no CUDA backend";

const RealBackend* find(std::string_view name) {
  for (const RealBackend& backend : real_backends)
    if (backend.name == name) return &backend;
  return nullptr;
}

[[noreturn]] void refuse(std::string_view name, std::string_view what,
                         std::vector<std::string> known) {
  for (const RealBackend& backend : real_backends) known.emplace_back(backend.name);
  throw unknown_name("backend", name, what, known);
}

const RealBackend& built(const RealBackend& backend) {
  if (!backend.built) throw HardwareError{no_cuda};
  return backend;
}

const RealBackend& real_backend(std::string_view name) {
  const RealBackend* found = find(name);
  if (!found) refuse(name, "a backend that runs plans", {});
  return built(*found);
}

}  // namespace

std::unique_ptr<Executor> make_executor(std::string_view name, const Topology& topology) {
  if (name == simulator_backend) {
    auto simulator = make_simulator(topology);
    if (!simulator) throw HardwareError{no_simulator};
    return simulator;
  }
  const RealBackend* found = find(name);
  if (!found) refuse(name, "a backend", {std::string{simulator_backend}});
  return built(*found).make(topology);
}

std::unique_ptr<RealExecutor> make_real_executor(std::string_view name,
                                                 const Topology& topology) {
  return real_backend(name).make(topology);
}

void require_real_executor(std::string_view name) { real_backend(name); }

Measurements measure_gpus(const CudaCalibrationOptions& options) {
  if (!has_cuda) throw HardwareError{no_cuda};
  return measure_cuda(options);
}

}  // namespace tilerail
