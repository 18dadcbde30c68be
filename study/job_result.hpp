#pragma once

#include <string>

#include "report/summary/summary.hpp"
#include "report/timeline/annotate.hpp"
#include "study/job.hpp"
#include "study/runner.hpp"

namespace tilerail::study {

/// The result of a job: simulated, or executed on real memory.
struct JobResult {
  AnnotatedTimeline timeline;
  Summary summary;
  std::optional<RunResult> run = {};  // of executions
};

/// Simulates the plan with the simulator "sim" (SimGrid) or "fluid": their times are
/// equal. Throws InputError for another name, HardwareError in a build without "sim".
/// Threads can simulate simultaneously; with "sim" they wait for each other.
JobResult simulate_job(const Job& job, std::string_view simulator);

/// Executes the plan with random matrices on the backend "host" or "cuda". Throws the
/// errors of Runner.
JobResult run_job(const Job& job, std::string_view backend, const RunSettings& settings);

/// The summary as JSON (docs/formats.md#summary), with the members of an execution.
std::string to_json(const JobResult& result);

}  // namespace tilerail::study
