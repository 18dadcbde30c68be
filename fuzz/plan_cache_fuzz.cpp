// Any bytes as the file of a plan cache: read, or refused with InputError. Contents that
// were read are written unchanged, and small plans are made of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/base/error.hpp"
#include "sched/decided_plan.hpp"
#include "study/planning/plan_cache.hpp"

#include "model/machine/topology_toml.hpp"

namespace {

using namespace tilerail;

constexpr int64_t most_side = 128,
                  least_tile = 16;  // few kernels: planning takes almost no time

bool is_small(const study::PlanKey& key, const study::TunedPlan& tuned) {
  for (const auto& [name, value] : tuned.decisions)
    if (name == "tile" && std::atoll(value.c_str()) < least_tile) return false;
  return key.m <= most_side && key.n <= most_side && key.k <= most_side;
}

void make(const study::PlanKey& key, const study::TunedPlan& tuned,
          const Topology& machine) {
  GemmProblem problem;
  problem.m = key.m, problem.n = key.n, problem.k = key.k, problem.dtype = key.dtype,
  problem.routine = key.routine;
  problem.trans_a = key.trans_a, problem.trans_b = key.trans_b;
  problem.alpha = key.alpha_is_zero ? 0 : 1, problem.beta = key.beta_is_zero ? 0 : 1;
  problem.place_a = problem.place_b = problem.place_c = machine.hosts().front();
  try {
    Plan plan = plan_decided(problem, machine, machine.gpus(), preset("tilerail"),
                             tuned.decisions);
    (void)study::tuned_hash(plan);
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Topology machine =
      load_topology(TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml");
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const study::PlanCache cache = study::read_plan_cache(text, "plans.toml");
    const study::PlanCache again =
        study::read_plan_cache(study::to_toml(cache), "again.toml");
    if (again.plans != cache.plans || again.owner != cache.owner) std::abort();
    for (const auto& [key, tuned] : cache.plans)
      if (is_small(key, tuned)) make(key, tuned, machine);
  } catch (const InputError&) {
  }
  return 0;
}
