#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/kernels/energy.hpp"
#include "report/summary/summary.hpp"
#include "study/runner.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* run_footer =
    R"(host: the timeline and the result come from the median iteration, of two the faster. cuda: iterations are not traced;
the timeline comes from a traced one after them, and --check runs once more.
Examples:
  tilerail run --backend host --gemm 2K --topology machine.toml --check
  tilerail run --backend host --plan plan.json --iters 5 --timeline measured.csv --json measured.json)";

struct RunOptions {
  study::JobText job;
  OutputOptions output;
  BenchOptions bench{.iterations = "3", .warmup = "1"};
  std::string backend;
};

/// The mean watts of one call.
double watts_of(const CountedEnergy& energy) { return energy.total() / energy.seconds; }

std::string energy_text(const CountedEnergy& energy) {
  return fmt::format(
      "energy counted by the GPUs: {} a call, {} on average, over {} calls of {}\n",
      joules_text(energy.total()), watts_text(watts_of(energy)), energy.calls,
      seconds_text(energy.seconds));
}

std::string gpu_text(const study::GpuRunFacts& gpu) {
  return (gpu.energy ? energy_text(*gpu.energy) : "") +
         fmt::format("first call: {}\nhost buffers: {}\n", seconds_text(gpu.first_s),
                     gpu.host_buffer);
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

std::string text_of(const Summary& summary, const study::RunResult& result) {
  const auto [least, most] =
      std::minmax_element(result.makespans.begin(), result.makespans.end());
  std::string text = summary_table(summary);
  text += fmt::format("\niterations: {}, median {}, from {} to {}\n",
                      result.makespans.size(), seconds_text(result.median()),
                      seconds_text(*least), seconds_text(*most));
  if (result.gpu) text += gpu_text(*result.gpu);
  if (result.check) {
    text += fmt::format("check: {}: {}\n", result.check->passed ? "passed" : "FAILED",
                        result.check->summary);
  }
  return text;
}

/// The JSON summary with the extra members of a measured run.
std::string json_of(const Summary& summary, const study::RunResult& result) {
  auto json = nlohmann::ordered_json::parse(to_json(summary));
  json["iterations_s"] = result.makespans;
  if (result.check) {
    json["check"] = {{"passed", result.check->passed},
                     {"residual", result.check->residual},
                     {"tolerance", result.check->tolerance}};
  }
  if (result.gpu) {
    const study::GpuRunFacts& gpu = *result.gpu;
    json["gpu"] = {{"first_s", gpu.first_s},         {"issue_per_op_s", gpu.issue_per_op},
                   {"traced_s", gpu.traced_s},       {"tracer", gpu.tracer},
                   {"clock_skew_s", gpu.clock_skew}, {"host_buffer", gpu.host_buffer}};
  }
  if (result.gpu && result.gpu->energy) {
    const CountedEnergy& energy = *result.gpu->energy;
    json["counted"] = {
        {"energy_j", energy.total()},
        {"watts", watts_of(energy)},
        {"edp_js", energy_delay(Joules{energy.total()}, Seconds{energy.seconds})},
        {"calls", energy.calls},
        {"call_s", energy.seconds},
        {"devices_j", energy.joules}};
  }
  return json.dump(2) + "\n";
}

int run_run(const RunOptions& options) {
  const study::RunSettings settings = options.bench.settings(0, options.backend);
  study::require_backend(options.backend);
  Outputs outputs{options.output, TraceKind::one_timeline};
  const study::Job job = study::make_job(options.job);
  const std::array plans{&job.plan};
  const study::RunResult result = [&] {
    return study::Runner{options.backend, job.topology, plans, settings}.run(job.plan);
  }();
  AnnotatedTimeline annotated = annotate(job.plan, job.topology, result.timeline);
  if (result.gpu && result.gpu->energy)
    annotated.metadata.counted_energy_j = result.gpu->energy->joules;
  const RunTimes times{job.plan_s, result.timeline.makespan().value};
  Summary summary = summarize(job.plan, job.topology, annotated, times);
  summary.note = job.note;
  if (!result.gpu && are_gpus(job.plan, job.topology)) {
    leave_out_energy(summary, annotated.metadata);
    const size_t gpus = job.plan.devices.size();
    summary.ran_on = fmt::format("CPU threads, not the {} of {}; energy unknown",
                                 gpus == 1 ? "GPU" : fmt::format("{} GPUs", gpus),
                                 job.topology.name());
  }
  outputs.write({{"measured", &annotated}}, text_of(summary, result),
                json_of(summary, result));
  if (!result.check || result.check->passed) return exit_ok;
  std::fputs(fmt::format("tilerail: check failed: {}\n", result.check->summary).c_str(),
             stderr);
  return exit_check_failed;
}

}  // namespace

Command add_run(CLI::App& root) {
  return make_command<RunOptions>(
      root, "run", "Execute a plan on real memory and measure it", run_footer, run_run,
      [](CLI::App& app, RunOptions& options) {
        add_options(app, options.job, true);
        add_plan_cache(app, options.job.plan_cache);
        OptionGroup group{app, "RUN"};
        group
            .add("--backend", "NAME", options.backend,
                 "host: CPU threads and memory of this machine; cuda: its GPUs")
            ->required();
        options.bench.add_to(group);
        options.output.add_to(app, TraceKind::one_timeline);
      });
}

}  // namespace tilerail::cli
