#include "study/cases/calibration_check.hpp"

#include <fmt/format.h>

#include <string>

#include "study/simulator.hpp"

namespace tilerail::study {
namespace {

/// The largest side of f64 cubes that all devices compute within `enough` at peak rate.
int side_of(const Topology& machine) {
  constexpr double enough = 0.04;  // seconds
  constexpr int least = 1024, most = 8192;
  double peak = 0;
  for (const MemoryId gpu : machine.gpus())
    peak += machine.kernels_of(gpu).peak(DType::f64, Trans::no, Trans::no).value;
  int side = least;
  while (side < most && 2.0 * 8 * side * side * side <= enough * peak) side *= 2;
  return side;
}

struct Sketch {
  int m, n, k;  // in eighths of the side
  DType dtype;
  const char* place;
  const char* policy;
  int tile = 0;  // in eighths; 0: the policy's choice
  int odd = 0;   // added to each size
};

/// A type without kernel times is replaced with f32.
Case case_of(const Sketch& sketch, const Topology& machine, int side) {
  const auto part = [&](int eighths) {
    return std::to_string(side / 8 * eighths + sketch.odd);
  };
  const bool known =
      machine.kernels_of(machine.gpus()[0]).has_times(sketch.dtype, Trans::no, Trans::no);
  Case c;
  c.sizes = {part(sketch.m), part(sketch.n), part(sketch.k)};
  c.problem.gemm = fmt::format("{},{},{}", c.sizes[0], c.sizes[1], c.sizes[2]);
  c.problem.dtype = to_string(known ? sketch.dtype : DType::f32);
  c.problem.place = sketch.place;
  c.policy.name = sketch.policy;
  if (sketch.tile > 0) c.policy.tile = std::to_string(side / 8 * sketch.tile);
  return c;
}

}  // namespace

std::vector<Case> check_cases(const Topology& machine) {
  const std::string last =
      std::to_string(machine.processor(machine.gpus().back()).device);
  const std::string first =
      std::to_string(machine.processor(machine.gpus().front()).device);
  const std::string on_gpus = fmt::format("{}:{}:{}", first, last, first),
                    back = fmt::format("{}:{}:h", first, last);
  const Sketch sketches[] = {
      {8, 8, 8, DType::f64, "h:h:h", "tilerail"},
      {8, 8, 8, DType::f32, "h:h:h", "gemmex"},
      {4, 4, 4, DType::f64, on_gpus.c_str(), "tilerail"},
      {8, 8, 2, DType::f64, "h:h:h", "cublasxt", 2},
      {4, 8, 8, DType::f32, back.c_str(), "xkblas"},
      {2, 8, 8, DType::f64, "h:h:h", "blasx", 2},
      {8, 8, 8, DType::bf16, on_gpus.c_str(), "cocopelia", 4},
      {5, 5, 5, DType::f64, "h:h:h", "paralia", 0, 8},
      {8, 8, 8, DType::tf32, "h:h:h", "gemmex", 4},
      {8, 4, 8, DType::f16, on_gpus.c_str(), "baseline", 2},
  };
  std::vector<Case> cases;
  for (const Sketch& sketch : sketches)
    cases.push_back(case_of(sketch, machine, side_of(machine)));
  return cases;
}

std::vector<CaseResult> checked_description(const Topology& machine,
                                            std::string_view backend) {
  CaseStudy runs{check_cases(machine), machine};
  runs.simulate(*simulator_of(machine));
  RunSettings settings;
  settings.check = true, settings.energy_seconds = 0;
  runs.measure(backend, settings);
  return runs.results();
}

}  // namespace tilerail::study
