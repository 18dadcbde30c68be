#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail::study {

/// Key of a tuned plan: problem, usable GPUs and policy. Memories are names. Alpha and
/// beta count only as zero or not, as for the plan itself.
struct PlanKey {
  Routine routine = Routine::gemm;
  int64_t m = 0, n = 0, k = 0;
  DType dtype = DType::f64;
  Trans trans_a = Trans::no, trans_b = Trans::no;
  bool alpha_is_zero = false, beta_is_zero = false;
  std::array<std::string, 3> place;  // of A, B, C
  std::array<int64_t, 3> ld = {};    // of A, B, C
  std::vector<std::string> devices;  // usable
  std::string policy;  // preset, then "+key=value" for every override except the effort

  auto operator<=>(const PlanKey&) const = default;
};

PlanKey key_of(const GemmProblem& problem, const Topology& machine,
               std::span<const MemoryId> devices, Policy policy);
/// "gemm 4096,4096,4096 f64 NN host:host:host", and values other than the defaults.
std::string text_of(const PlanKey& key);

/// The fastest choice found.
struct TunedPlan {
  std::vector<PlanDecision>
      decisions;       // all: they determine the plan (sched/decided_plan.hpp)
  double seconds = 0;  // its makespan
  Evaluator evaluator = Evaluator::simulator;  // source of `seconds`
  std::string preset;                          // whose search found the plan
  int64_t tried = 0;                           // evaluated plans
  Effort effort = Effort::fast;                // of each search
  std::string plan_hash;                       // see tuned_hash
  std::string version;                         // of the program that found it
  std::optional<double> metric =
      {};  // the plan's value of its policy's metric, more is better; nullopt: makespan

  bool operator==(const TunedPlan&) const = default;
};

/// Other versions may plan the same decisions differently, or not at all.
std::string_view program_version();

/// The hash of a plan's contents without its policy and with nonzero scalars set to 1,
/// because neither affects a choice. Restores the plan afterwards.
std::string tuned_hash(Plan& plan);

/// The machine that plans were tuned for.
struct CacheOwner {
  std::string machine, hash;  // its name, and model/machine/topology_writer.hpp

  bool operator==(const CacheOwner&) const = default;
};

CacheOwner owner_of(const Topology& machine);

/// Tuned plans of one machine: a file (docs/formats.md#plan-cache).
struct PlanCache {
  CacheOwner owner;
  std::map<PlanKey, TunedPlan> plans;
  std::string file = {};  // the file of origin
  std::map<PlanKey, std::string> places =
      {};  // locations in the file: "plans.toml:27:11"
};

/// Throws InputError "file:line:column: ...".
PlanCache read_plan_cache(std::string_view text, const std::string& file);
/// The inverse of read_plan_cache.
std::string to_toml(const PlanCache& cache);

/// Throws InputError naming the file.
PlanCache load_plan_cache(const std::string& file);
/// Throws InputError if the cache belongs to another machine.
void require_owner(const PlanCache& cache, const CacheOwner& owner);

/// The file's cache, or an empty one if the file does not exist. Throws as
/// load_plan_cache and require_owner do.
PlanCache present_plan_cache(const std::string& file, const CacheOwner& owner);

/// Adds a plan to the file, which is created if missing. Several processes may do so
/// simultaneously. Replaces the file atomically. Throws InputError as the readers do,
/// also if the file belongs to another machine or cannot be written.
void keep_plan(const std::string& file, const CacheOwner& owner, const PlanKey& key,
               const TunedPlan& plan);

/// Throws InputError if the file could not be written. Does not change it.
void require_writable_plan_cache(const std::string& file, const CacheOwner& owner);

}  // namespace tilerail::study
