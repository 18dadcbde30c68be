#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"
#include "study/planning/tuned_plans.hpp"
#include "study/problem_text.hpp"

namespace tilerail::study {

/// A machine: file or name, "all" or GPU numbers, and changed figures.
struct MachineText {
  std::string topology, devices = "all";
  std::vector<std::string> settings = {};  // KEY=VALUE, docs/formats.md#settings

  friend auto operator<=>(const MachineText&, const MachineText&) = default;
  Topology load() const;
  /// The machine with the settings.
  Topology changed(const Topology& machine) const;
  /// The processors of `devices`: GPUs by ascending number, then cores. "all" contains
  /// cores if the plan's processors are `chosen` among them. Throws InputError with the
  /// processors of the machine.
  std::vector<MemoryId> resolve_devices(const Topology& machine, bool chosen) const;
};

/// A policy: a preset and overrides of its fields.
struct PolicyText {
  std::string name = "tilerail";
  std::optional<std::string> tile, effort;  // "auto": the preset's rule for tiles
  std::vector<std::string> overrides;       // "key=value" for all other fields

  friend auto operator<=>(const PolicyText&, const PolicyText&) = default;
  /// Throws InputError, also if two assignments give one field different values.
  Policy resolve() const;
};

/// A planning request on one machine.
struct Request {
  GemmProblem problem;
  std::vector<MemoryId> devices;
  Policy policy;
};

/// The input of plan, simulate and run: a problem, a machine and a policy, or a saved
/// plan.
struct JobText {
  ProblemText problem;
  MachineText machine;
  PolicyText policy;
  std::string plan_file;
  std::string plan_cache = {};  // "": from the environment, if set there

  friend auto operator<=>(const JobText&, const JobText&) = default;
  Request on(const Topology& topology) const;
};

struct Job {
  Topology topology;
  Plan plan;
  double plan_s = 0;      // seconds spent planning; 0 for a plan from a file
  std::string note = {};  // explains the placement; "" if it needs no explanation
};

/// Machines without settings, by their text.
using Machines = std::map<std::string, Topology>;

/// The plans of jobs for their machines without settings. Plans each once, also if
/// several threads ask.
class UnchangedPlans {
 public:
  /// `known`: machines that are not loaded.
  explicit UnchangedPlans(Machines known = {}) : machines_{std::move(known)} {}

  /// Null if the job cannot run without its settings.
  const Plan* find(JobText job);

 private:
  struct Entry {
    std::once_flag once;
    std::optional<Plan> plan;
  };
  Topology machine_of(const MachineText& text) const;

  const Machines machines_;
  std::mutex mutex_;  // of the plans
  std::map<JobText, Entry> plans_;
};

/// Plans on this machine, with the tuned plan if `tuned` has one. If settings change the
/// machine, a search may take the plan for the machine without settings; jobs can share
/// these plans. Throws InputError.
Job plan_job(const Topology& topology, const JobText& text, const TunedPlans& tuned = {},
             UnchangedPlans* shared = nullptr);

/// The same. The plan also lists options of the policy without effect on it.
Job shown_job(const Topology& topology, const JobText& text,
              const TunedPlans& tuned = {});

/// Reads, plans and validates. Throws InputError.
Job make_job(const JobText& text);

}  // namespace tilerail::study
