#include "study/job_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/base/timer.hpp"
#include "model/kernels/energy.hpp"
#include "study/evaluation.hpp"
#include "study/simulator.hpp"

namespace tilerail::study {
namespace {

Timeline simulated_timeline(const Job& job, std::string_view simulator) {
  if (simulator == fluid_backend) return fluid_timeline(job.plan, job.topology);
  if (simulator != simulator_backend)
    throw InputError{"simulator", simulator, "",
                     fmt::format("{} or {}", simulator_backend, fluid_backend)};
  static std::mutex one_engine;  // of SimGrid in a process
  const std::lock_guard lock{one_engine};
  return simulator_of(job.topology)->execute(job.plan);
}

/// CPU threads have no energy counters, and the description's watts apply to its GPUs.
void leave_out_energy(Summary& summary, TimelineMetadata& metadata) {
  summary.energy.reset();
  for (Summary::DeviceUse& device : summary.devices) device.energy_j.reset();
  metadata.energy_j.clear();
}

/// Calibrated hosts have workers, which execute both copies and kernels; GPUs have
/// engines.
bool are_gpus(const Plan& plan, const Topology& machine) {
  return std::ranges::any_of(plan.devices, [&](MemoryId device) {
    return !machine.memory(device).engines().total;
  });
}

}  // namespace

JobResult simulate_job(const Job& job, std::string_view simulator) {
  const Timer timer;
  const Timeline timeline = simulated_timeline(job, simulator);
  const double spent = timer.seconds();
  JobResult result{annotate(job.plan, job.topology, timeline), {}};
  result.summary =
      summarize(job.plan, job.topology, result.timeline, {job.plan_s, spent});
  result.summary.note = job.note;
  return result;
}

JobResult run_job(const Job& job, std::string_view backend, const RunSettings& settings) {
  const std::array plans{&job.plan};
  const RunResult run = Runner{backend, job.topology, plans, settings}.run(job.plan);
  JobResult result{annotate(job.plan, job.topology, run.timeline), {}, run};
  if (run.gpu && run.gpu->energy)
    result.timeline.metadata.counted_energy_j = run.gpu->energy->joules;
  result.summary = summarize(job.plan, job.topology, result.timeline,
                             {job.plan_s, run.timeline.makespan().value});
  result.summary.note = job.note;
  if (run.gpu || !are_gpus(job.plan, job.topology)) return result;
  leave_out_energy(result.summary, result.timeline.metadata);
  const size_t gpus = job.plan.devices.size();
  result.summary.ran_on =
      fmt::format("CPU threads, not the {} of {}; energy unknown",
                  gpus == 1 ? "GPU" : fmt::format("{} GPUs", gpus), job.topology.name());
  return result;
}

std::string to_json(const JobResult& result) {
  std::string summary = tilerail::to_json(result.summary);
  if (!result.run) return summary;
  Json json = Json::parse(summary);
  const RunResult& run = *result.run;
  json["iterations_s"] = run.makespans;
  if (run.check) {
    json["check"] = {{"passed", run.check->passed},
                     {"residual", run.check->residual},
                     {"tolerance", run.check->tolerance}};
  }
  if (run.gpu) {
    const GpuRunFacts& gpu = *run.gpu;
    json["gpu"] = {{"first_s", gpu.first_s},         {"issue_per_op_s", gpu.issue_per_op},
                   {"traced_s", gpu.traced_s},       {"tracer", gpu.tracer},
                   {"clock_skew_s", gpu.clock_skew}, {"host_buffer", gpu.host_buffer}};
  }
  if (run.gpu && run.gpu->energy) {
    const CountedEnergy& energy = *run.gpu->energy;
    json["counted"] = {
        {"energy_j", energy.total()},
        {"watts", energy.watts()},
        {"edp_js", energy_delay(Joules{energy.total()}, Seconds{energy.seconds})},
        {"calls", energy.calls},
        {"call_s", energy.seconds},
        {"devices_j", energy.joules}};
  }
  return json.dump(2) + "\n";
}

}  // namespace tilerail::study
