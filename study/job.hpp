#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"
#include "study/planning/tuned_plans.hpp"
#include "study/problem_text.hpp"

namespace tilerail::study {

/// Of a machine: its file or name, "all" or the numbers of GPUs, and what is changed of it.
struct MachineText {
  std::string topology, devices = "all";
  std::string backend = {};  // that will run plans here: then this very machine is meant

  std::string option = "--topology";       // where the file or name stands, for errors
  std::vector<std::string> settings = {};  // KEY=VALUE, docs/formats.md#settings

  std::string folder = {};  // where a relative file is looked for first, "" for none

  Topology load() const;
  /// The machine with the settings. Throws InputError naming --topo-set.
  Topology changed(const Topology& machine) const;
  /// The GPUs of --devices, by ascending number. Throws InputError naming the GPUs there are.
  std::vector<MemoryId> resolve_devices(const Topology& machine) const;
};

/// Of a policy: a preset, and what replaces its fields.
struct PolicyText {
  std::string name = "tilerail";
  std::optional<std::string> tile;
  std::vector<std::string> overrides;

  /// Throws InputError naming the option, also where two of them give one field different values.
  Policy resolve() const;
};

/// What plan, simulate and run all work on: a problem, a machine and a policy, or a plan that was saved before.
struct JobText {
  ProblemText problem;
  MachineText machine;
  PolicyText policy;
  std::string plan_file;
  std::string plan_cache = {};  // "": the one that the environment names, if it does
};

struct Job {
  Topology topology;
  Plan plan;
  double plan_s = 0;            // seconds spent planning; 0 for a plan from a file
  std::string plan_cache = {};  // what a plan cache had to say; "" without one
  std::string note = {};        // what the placement means; "" where that is plain
};

/// Plans a problem on the devices that `machine` names, as it was tuned before where `tuned` knows it. Throws
/// InputError.
Job plan_job(const Topology& topology, const ProblemText& problem, const MachineText& machine, const PolicyText& policy,
             const TunedPlans& tuned = {});

/// Reads, plans and validates. Throws InputError.
Job make_job(const JobText& text);

}  // namespace tilerail::study
