#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"
#include "model/topology.hpp"
#include "sched/plan.hpp"
#include "sched/policy.hpp"

namespace tilerail::cli {

/// PROBLEM: one of --gemm --gemv --dot --axpy, and --dtype --transa --transb --alpha --beta --place --lda --ldb --ldc.
struct ProblemOptions {
  std::optional<std::string> gemm, gemv, dot, axpy;
  std::string dtype = "f64", trans_a = "N", alpha = "1";
  std::optional<std::string> trans_b, beta, place;  // whose defaults are the routine's
  std::array<std::string, 3> leading = {"0", "0", "0"};

  void add_to(CLI::App& app);
  /// The checked problem, with its matrices in memories of `topology`. Throws InputError naming the option.
  GemmProblem resolve(const Topology& topology) const;
  std::string place_or_default() const;

 private:
  GemmProblem sizes() const;
  void refuse_what_is_not_there(Routine routine) const;
  void put(GemmProblem& problem, const Topology& topology) const;
};

/// MACHINE: --topology --devices.
struct MachineOptions {
  std::string topology, devices = "all";

  void add_to(CLI::App& app);
  Topology load() const;
  /// The GPUs of --devices, by ascending number. Throws InputError naming the GPUs there are.
  std::vector<MemoryId> resolve_devices(const Topology& machine) const;
};

/// POLICY: --policy --tile --select --set.
struct PolicyOptions {
  std::string name = "tilerail", tile = "auto", select;
  std::vector<std::string> overrides;

  void add_to(CLI::App& app);
  Policy resolve() const;
};

/// What plan, simulate and run all work on: PROBLEM MACHINE POLICY, or a plan that was saved before.
struct JobOptions {
  ProblemOptions problem;
  MachineOptions machine;
  PolicyOptions policy;
  std::string plan_file;

  /// `plan_file_allowed`: also adds --plan FILE, which excludes PROBLEM, POLICY and --devices.
  void add_to(CLI::App& app, bool plan_file_allowed);
};

struct Job {
  Topology topology;
  Plan plan;
  double plan_s = 0;  // seconds spent planning; 0 for a plan from a file
};

/// Plans a problem on the devices that `machine` names. Throws InputError.
Job plan_job(const Topology& topology, const ProblemOptions& problem, const MachineOptions& machine,
             const PolicyOptions& policy);

/// Reads, plans and validates. Throws InputError.
Job make_job(const JobOptions& options);

}  // namespace tilerail::cli
