#include "model/base/json.hpp"
#include "report/summary/summary.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "plan/json.hpp"

namespace tilerail {
namespace {

void add_energy(Json& json, const Summary::Energy& energy) {
  json["energy_j"] = energy.joules;
  json["watts"] = energy.watts;
  json["edp_js"] = energy.edp;
  json["metrics"] = Json::object();
  for (const auto i : indices(metrics))
    json["metrics"][metrics[i].name] = energy.metric_values[i];
}

void add_bottleneck(Json& json, const Summary& summary) {
  using Part = Summary::PathPart;
  const Columns<Part> parts{
      {"kind", &Part::kind}, {"name", &Part::name}, {"seconds", &Part::seconds}};
  json["critical_path"] = parts.json_rows(summary.critical_path);
  json["busiest"] = nullptr;
  if (const auto& use = summary.busiest)
    json["busiest"] = {
        {"kind", to_string(use->kind)}, {"name", use->name}, {"share", use->share}};
}

/// Links or groups.
Columns<Summary::LinkUse> load_columns(const char* title) {
  using Use = Summary::LinkUse;
  return {{"name", &Use::name, title},
          {"bytes", &Use::bytes, "bytes", bytes_text},
          {"utilisation", &Use::utilisation, "utilisation", share_text}};
}

void add_resources(Json& json, const Summary& summary) {
  json["peak_bytes"] = Json::object();
  for (const auto& memory : summary.memories)
    json["peak_bytes"][memory.name] = memory.peak_bytes;
  json["memories"] = Json::array();
  for (const auto& memory : summary.memories) {
    if (memory.bytes() == 0) continue;
    json["memories"].push_back({{"name", memory.name},
                                {"matrix_bytes", memory.matrix_bytes},
                                {"tile_bytes", memory.peak_bytes},
                                {"capacity_bytes", cell_of(memory.capacity_bytes)}});
  }
  json["compute"] = Json::array();
  for (const auto& device : summary.devices) {
    json["compute"].push_back({{"name", device.name}, {"busy_s", device.busy_s}});
    if (device.energy_j) json["compute"].back()["energy_j"] = *device.energy_j;
  }
  using Queue = Summary::QueueUse;
  const Columns<Queue> queues{{"name", &Queue::name},
                              {"busy_s", &Queue::busy_s},
                              {"bytes", &Queue::bytes},
                              {"ops", &Queue::ops}};
  json["queues"] = queues.json_rows(summary.queues);
  json["links"] = load_columns("link").json_rows(summary.links);
  json["groups"] = load_columns("group").json_rows(summary.groups);
}

std::string of_makespan(const Summary& summary, double seconds) {
  return share_text(summary.makespan_s > 0 ? seconds / summary.makespan_s : 0);
}

/// The makespan, with a rate if anything was calculated.
std::string makespan_text(const Summary& summary) {
  const std::string time = seconds_text(summary.makespan_s);
  return summary.tflops > 0 ? fmt::format("{}, {:.4g} TFLOP/s", time, summary.tflops)
                            : time;
}

/// Efficiency in flop/J is flop/s/W.
std::string energy_text(const Summary& summary) {
  const Summary::Energy& energy = *summary.energy;
  std::string text = fmt::format("{}, {} on average", joules_text(energy.joules),
                                 watts_text(energy.watts));
  if (summary.tflops > 0)
    text += fmt::format(", {:.4g} GFLOP/s/W", summary.tflops * 1e3 / energy.watts);
  text += fmt::format(", EDP {:.4g} J s", energy.edp);
  return text;
}

/// "critical path: 60.1% kernels, 30.2% host to GPUs, 9.7% waiting for kernels"
std::string path_text(const Summary& summary) {
  constexpr double least = 0.01;  // of the makespan; smaller parts are combined
  std::vector<std::string> parts;
  double rest = 0;
  for (const Summary::PathPart& part : summary.critical_path) {
    if (part.seconds < least * summary.makespan_s) {
      rest += part.seconds;
      continue;
    }
    const std::string_view what = part.name.empty() ? to_string(part.kind) : part.name;
    parts.push_back(fmt::format("{} {}{}", of_makespan(summary, part.seconds),
                                part.kind == TimeUse::waiting ? "waiting for " : "",
                                what));
  }
  if (parts.empty()) return "none";
  if (rest >= least * summary.makespan_s)
    parts.push_back(of_makespan(summary, rest) + " other");
  return fmt::format("critical path: {}", fmt::join(parts, ", "));
}

std::string busiest_text(const Summary& summary) {
  if (!summary.busiest) return "nothing";
  const auto& [kind, name, share] = *summary.busiest;
  return fmt::format("{} {} {}", share_text(share), to_string(kind), name);
}

std::string bound_text(const Summary& summary) {
  const double bound = summary.bound.time.value;
  if (bound == 0) return "0 s";
  return fmt::format("{} ({}), {:.2f} x", seconds_text(bound),
                     to_text(summary.bound.binding), summary.makespan_s / bound);
}

Json interval_json(const PredictedInterval& interval) {
  return {
      {"level", Uncertainty::level}, {"low_s", interval.low}, {"high_s", interval.high}};
}

std::string moved_text(const Summary& summary) {
  return fmt::format("{}: {} in, {} out, {} between GPUs",
                     bytes_text(summary.bytes_moved), bytes_text(summary.bytes_in),
                     bytes_text(summary.bytes_out), bytes_text(summary.bytes_peer));
}

std::string run_section(const Summary& summary) {
  const TimelineMetadata& metadata = summary.metadata;
  Lines lines;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) lines.push_back({name, text});
  };
  add("ran on", summary.ran_on);
  add("problem", metadata.problem);
  add("note", summary.note);
  add("machine",
      fmt::format("{}, devices {}", metadata.machine, fmt::join(metadata.devices, " ")));
  add("policy", fmt::format("{}, tile {}", metadata.policy, metadata.tile));
  const std::string planned =
      summary.plan_s > 0 ? "planned in " + seconds_text(summary.plan_s) : "read";
  add("plan",
      fmt::format("{}, {} operations, {}", metadata.plan_hash, summary.ops, planned));
  if (summary.plan_machine != metadata.machine)
    add("made for", summary.plan_machine + ", not the machine of this run");
  add("backend",
      fmt::format("{}, took {}", metadata.backend, seconds_text(summary.execute_s)));
  add("makespan", makespan_text(summary));
  if (metadata.interval) add("interval", interval_text(*metadata.interval));
  if (summary.ran_on.empty())
    add("bound", bound_text(summary));  // CPU threads have no bound
  add("moved", moved_text(summary));
  add("bottleneck", path_text(summary));
  add("busiest", busiest_text(summary));
  if (summary.energy) add("energy", energy_text(summary));
  add("chosen", summary.plan_cache);
  add("no effect", boost::join(summary.without_effect, "; "));
  return aligned(lines, "l");
}

Lines device_lines(const Summary& summary) {
  Lines lines = {{"device", "kernels", "busy"}};
  if (summary.energy) lines.front().push_back("energy");
  for (const auto& device : summary.devices) {
    lines.push_back(
        {device.name, seconds_text(device.busy_s), of_makespan(summary, device.busy_s)});
    if (summary.energy) lines.back().push_back(joules_text(*device.energy_j));
  }
  return lines;
}

/// The use of each memory.
Lines memory_lines(const Summary& summary) {
  Lines lines = {{"memory", "matrices", "tiles", "capacity", "used"}};
  for (const auto& memory : summary.memories) {
    if (memory.bytes() == 0) continue;
    const auto& capacity = memory.capacity_bytes;
    lines.push_back({memory.name, bytes_text(memory.matrix_bytes),
                     bytes_text(double(memory.peak_bytes)),
                     capacity ? bytes_text(*capacity) : "unknown",
                     capacity ? share_text(memory.bytes() / *capacity) : "-"});
  }
  return lines;
}

/// The use of links or of groups.
Lines load_lines(const char* title, std::vector<Summary::LinkUse> loads) {
  std::erase_if(loads, [](const Summary::LinkUse& load) { return load.bytes <= 0; });
  return load_columns(title).lines(loads);
}

std::string named(TimeUse kind, const char* between, const std::string& name) {
  return fmt::format("{}{}{}", to_string(kind), name.empty() ? "" : between, name);
}

}  // namespace

std::string to_text(const Binding& binding) {
  const auto& [kind, name, others] = binding;
  const bool of_memory = kind == TimeUse::kernels || kind == TimeUse::memory;
  return (kind == TimeUse::engines ? name : named(kind, of_memory ? " of " : " ", name)) +
         (others > 0 ? fmt::format(" and {} more", others) : "");
}

std::string to_text(const Summary::PathPart& part) {
  return named(part.kind, " ", part.name);
}

std::string to_json(const Summary& summary) {
  const TimelineMetadata& metadata = summary.metadata;
  Json json = {{"schema", 1},
               {"version", metadata.version},
               {"makespan_s", summary.makespan_s},
               {"bound_s", summary.bound.time.value},
               {"bound_by", to_text(summary.bound.binding)},
               {"tflops", summary.tflops},
               {"ops", summary.ops},
               {"plan_s", summary.plan_s},
               {"execute_s", summary.execute_s},
               {"plan_hash", metadata.plan_hash},
               {"machine", metadata.machine},
               {"plan_machine", summary.plan_machine},
               {"backend", metadata.backend},
               {"policy", metadata.policy},
               {"without_effect", summary.without_effect},
               {"tile", metadata.tile},
               {"devices", metadata.devices},
               {"problem", problem_columns().json(summary.problem)},
               {"bytes_moved", summary.bytes_moved},
               {"bytes_in", summary.bytes_in},
               {"bytes_out", summary.bytes_out},
               {"bytes_peer", summary.bytes_peer}};
  json["problem"]["place"] = summary.place;
  if (const auto& interval = metadata.interval)
    json["interval"] = interval_json(*interval);
  if (!summary.plan_cache.empty()) json["plan_cache"] = summary.plan_cache;
  if (!summary.note.empty()) json["note"] = summary.note;
  if (!summary.ran_on.empty()) json["ran_on"] = summary.ran_on;
  add_bottleneck(json, summary);
  if (summary.energy) add_energy(json, *summary.energy);
  add_resources(json, summary);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_table(const Summary& summary) {
  std::string text = run_section(summary);
  for (const Lines& lines :
       {device_lines(summary), memory_lines(summary), load_lines("link", summary.links),
        load_lines("group", summary.groups)})
    if (lines.size() > 1) text += "\n" + aligned(lines, "lr");
  return text;
}

}  // namespace tilerail
