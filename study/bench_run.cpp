#include "study/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/error.hpp"

namespace tilerail::study {

double RunResult::median() const {
  std::vector<double> sorted = makespans;
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() - 1) / 2];
}

void check_backend(const std::string& backend) {
  if (backend != "host" && backend != "cuda")
    throw InputError{fmt::format("--backend: '{}' is no backend that runs plans; there are: host, cuda", backend)};
#ifndef TILERAIL_HAVE_CUDA
  if (backend == "cuda") throw HardwareError{"--backend: this build has no CUDA backend"};
#endif
}

HostPages pages_of(const std::string& text) {
  if (text == "spread") return HostPages::spread;
  if (text == "plain") return HostPages::plain;
  throw InputError{fmt::format("--host-buffers: '{}' is no kind of host buffer; there are: spread, plain", text)};
}

std::unique_ptr<BenchRunner> make_runner(const std::string& backend, const Topology& topology,
                                         const std::vector<const Plan*>& plans, const RunSettings& settings) {
  if (backend == "host") return make_host_runner(topology);
  check_backend(backend);
  return make_cuda_runner(topology, plans, settings);
}

}  // namespace tilerail::study
