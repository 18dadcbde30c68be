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

namespace tilerail::study {

/// What a tuned plan is of: a problem, the GPUs that may be used, and a policy. Memories
/// by name. Of alpha and beta only whether they are 0 counts, as for the plan itself.
struct PlanKey {
  Routine routine = Routine::gemm;
  int64_t m = 0, n = 0, k = 0;
  DType dtype = DType::f64;
  Trans trans_a = Trans::no, trans_b = Trans::no;
  bool alpha_is_zero = false, beta_is_zero = false;
  std::array<std::string, 3> place;  // of A, B, C
  std::array<int64_t, 3> ld = {};    // of A, B, C
  std::vector<std::string> devices;  // that are given
  std::string policy;                // preset, then "+key=value" for every override

  auto operator<=>(const PlanKey&) const = default;
};

PlanKey key_of(const GemmProblem& problem, const Topology& machine,
               std::span<const MemoryId> devices, const std::string& policy);
/// "gemm 4096,4096,4096 f64 NN host:host:host", and what is not as usual.
std::string text_of(const PlanKey& key);

/// How the times of plans were found when the fastest was taken; the better evidence
/// comes first.
enum class TunedBy { measurement, simulator };
std::string_view to_string(TunedBy judge);

/// The choice that was found to be the fastest.
struct TunedPlan {
  std::vector<PlanDecision>
      decisions;       // all: the plan follows from them (sched/decided_plan.hpp)
  double seconds = 0;  // its makespan
  TunedBy judge = TunedBy::simulator;  // who says so
  std::string preset;                  // whose search found it
  int64_t tried = 0, budget = 0;       // plans that were judged; operations that their
                                       // searches could judge, each
  std::string plan_hash;               // see tuned_hash
  std::string version;                 // of the program that found it
  std::optional<double> metric =
      {};  // what its policy selects by, of that plan: more is better; none: the makespan

  bool operator==(const TunedPlan&) const = default;
};

/// Of this program. A plan of another one may be made otherwise, or not at all.
std::string_view program_version();

/// The hash of a plan's contents with the scalars that are not 0 taken as 1, and no
/// policy: those do not matter to a choice. The plan is what it was afterwards.
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
  std::string file = {};                       // that it was read from
  std::map<PlanKey, std::string> places = {};  // in the file: "plans.toml:27:11"
};

/// Throws InputError "file:line:column: ...".
PlanCache read_plan_cache(std::string_view text, const std::string& file);
/// The inverse.
std::string to_toml(const PlanCache& cache);

/// Throws InputError naming the file.
PlanCache load_plan_cache(const std::string& file);
/// Throws InputError where it is that of another machine.
void require_owner(const PlanCache& cache, const CacheOwner& owner);

/// The file's, or one without plans where there is no file. Throws as require_owner, too.
PlanCache present_plan_cache(const std::string& file, const CacheOwner& owner);

/// Puts a plan into the file, or makes one. Several processes may do so simultaneously.
/// The file is replaced whole or not at all. Throws InputError as the readers do, also if
/// it is another machine's, and if it cannot be written.
void keep_plan(const std::string& file, const CacheOwner& owner, const PlanKey& key,
               const TunedPlan& plan);

/// Throws InputError where it could not be written, without changing it.
void require_writable_plan_cache(const std::string& file, const CacheOwner& owner);

}  // namespace tilerail::study
