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

/// Of a machine: its file or name, "all" or the numbers of GPUs, and what is changed of
/// it.
struct MachineText {
  std::string topology, devices = "all";
  std::vector<std::string> settings = {};  // KEY=VALUE, docs/formats.md#settings

  Topology load() const;
  /// The machine with the settings.
  Topology changed(const Topology& machine) const;
  /// The GPUs of `devices`, by ascending number. Throws InputError with the GPUs of the
  /// machine.
  std::vector<MemoryId> resolve_devices(const Topology& machine) const;
};

/// Of a policy: a preset, and what replaces its fields.
struct PolicyText {
  std::string name = "tilerail";
  std::optional<std::string> tile;
  std::vector<std::string> overrides;

  /// Throws InputError, also if two assignments give one field different values.
  Policy resolve() const;
};

/// What a plan is asked for, on one machine.
struct Request {
  GemmProblem problem;
  std::vector<MemoryId> devices;
  Policy policy;
};

/// What plan, simulate and run all work on: a problem, a machine and a policy, or a plan
/// that was saved before.
struct JobText {
  ProblemText problem;
  MachineText machine;
  PolicyText policy;
  std::string plan_file;
  std::string plan_cache = {};  // "": the one that the environment names, if it does

  Request on(const Topology& topology) const;
};

struct Job {
  Topology topology;
  Plan plan;
  double plan_s = 0;            // seconds spent planning; 0 for a plan from a file
  std::string plan_cache = {};  // what a plan cache had to say; "" without one
  std::string note = {};        // what the placement means; "" where that is plain
};

/// Plans on this machine, as it was tuned before where `tuned` knows it. Throws
/// InputError.
Job plan_job(const Topology& topology, const JobText& text, const TunedPlans& tuned = {});

/// The same, and the plan names the options of the policy that have no effect on it.
Job shown_job(const Topology& topology, const JobText& text,
              const TunedPlans& tuned = {});

/// Reads, plans and validates. Throws InputError.
Job make_job(const JobText& text);

}  // namespace tilerail::study
