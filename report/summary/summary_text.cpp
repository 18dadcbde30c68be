#include "report/summary/summary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "report/trace/tracks.hpp"

namespace tilerail {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::vector<std::string>>;

Json problem_json(const Summary& summary) {
  const GemmProblem& p = summary.problem;
  return {{"routine", to_string(p.routine)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"dtype", to_string(p.dtype)},
          {"trans_a", to_string(p.trans_a)},
          {"trans_b", to_string(p.trans_b)},
          {"alpha", p.alpha},
          {"beta", p.beta},
          {"place", summary.place}};
}

template <class Items, class Write>
Json list(const Items& items, Write write) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(write(item));
  return array;
}

void add_energy(Json& json, const Summary::Energy& energy) {
  json["energy_j"] = energy.joules;
  json["watts"] = energy.watts;
  json["edp_js"] = energy.edp;
  json["metrics"] = Json::object();
  for (const auto i : indices(metrics)) json["metrics"][metrics[i].name] = energy.metric_values[i];
}

void add_bottleneck(Json& json, const Summary& summary) {
  json["critical_path"] = list(summary.critical_path, [](const auto& part) -> Json {
    return {{"kind", to_string(part.kind)}, {"name", part.name}, {"seconds", part.seconds}};
  });
  const auto use = [](const Summary::ResourceUse& r) -> Json {
    return {{"kind", to_string(r.kind)}, {"name", r.name}, {"share", r.share}};
  };
  json["busiest"] = summary.most_used.empty() ? Json(nullptr) : use(summary.most_used.front());
  json["saturated"] = Json::array();
  for (const auto& r : summary.most_used)
    if (r.share >= Summary::saturated_from) json["saturated"].push_back(use(r));
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// What has neither tiles nor matrices is of no interest.
bool is_shown(const Summary::MemoryUse& memory) { return memory.bytes() > 0; }

void add_resources(Json& json, const Summary& summary) {
  json["peak_bytes"] = Json::object();
  for (const auto& memory : summary.memories) json["peak_bytes"][memory.name] = memory.peak_bytes;
  json["memories"] = Json::array();
  for (const auto& memory : summary.memories) {
    if (!is_shown(memory)) continue;
    json["memories"].push_back({{"name", memory.name},
                                {"matrix_bytes", memory.matrix_bytes},
                                {"tile_bytes", memory.peak_bytes},
                                {"capacity_bytes", or_null(memory.capacity_bytes)}});
  }
  json["compute"] = list(summary.devices, [](const auto& device) -> Json {
    Json use = {{"name", device.name}, {"busy_s", device.busy_s}, {"idle_s", device.idle_s}};
    if (device.energy_j) use["energy_j"] = *device.energy_j;
    return use;
  });
  json["queues"] = list(summary.queues, [](const auto& queue) -> Json {
    return {{"name", queue.name}, {"busy_s", queue.busy_s}, {"bytes", queue.bytes}, {"ops", queue.ops}};
  });
  json["links"] = list(summary.links, [](const auto& link) -> Json {
    return {{"name", link.name}, {"busy_s", link.busy_s}, {"bytes", link.bytes}, {"utilisation", link.utilisation}};
  });
  json["groups"] = list(summary.groups, [](const auto& group) -> Json {
    return {{"name", group.name}, {"bytes", group.bytes}, {"utilisation", or_null(group.utilisation)}};
  });
}

std::string of_makespan(const Summary& summary, double seconds) {
  return share_text(summary.makespan_s > 0 ? seconds / summary.makespan_s : 0);
}

/// Without a rate where nothing was calculated.
std::string makespan_text(const Summary& summary) {
  const std::string time = seconds_text(summary.makespan_s);
  return summary.tflops > 0 ? fmt::format("{}, {:.4g} TFLOP/s", time, summary.tflops) : time;
}

/// Efficiency in flop/J is flop/s/W.
std::string energy_text(const Summary& summary) {
  const Summary::Energy& energy = *summary.energy;
  std::string text = fmt::format("{}, {} on average", joules_text(energy.joules), watts_text(energy.watts));
  if (summary.tflops > 0) text += fmt::format(", {:.4g} GFLOP/s/W", summary.tflops * 1e3 / energy.watts);
  text += fmt::format(", EDP {:.4g} J s", energy.edp);
  return text;
}

/// "critical path: 60.1% kernels, 30.2% host to GPUs, 9.7% waiting for kernels"
std::string path_text(const Summary& summary) {
  constexpr double least = 0.01;  // of the makespan; what is less is summed up
  std::vector<std::string> parts;
  double rest = 0;
  for (const Summary::PathPart& part : summary.critical_path) {
    if (part.seconds < least * summary.makespan_s) {
      rest += part.seconds;
      continue;
    }
    const std::string_view what = part.name.empty() ? to_string(part.kind) : part.name;
    parts.push_back(fmt::format("{} {}{}", of_makespan(summary, part.seconds),
                                part.kind == TimeUse::waiting ? "waiting for " : "", what));
  }
  if (parts.empty()) return "none";
  if (rest >= least * summary.makespan_s) parts.push_back(of_makespan(summary, rest) + " other");
  return fmt::format("critical path: {}", fmt::join(parts, ", "));
}

std::string saturated_text(const Summary& summary) {
  std::vector<std::string> uses;
  constexpr double rounding = 1.001;
  size_t faster = 0;  // than described: hardware is bound by no description
  for (const Summary::ResourceUse& use : summary.most_used)
    if (use.share > rounding)
      ++faster;
    else if (use.share >= Summary::saturated_from)
      uses.push_back(fmt::format("{} {} {}", share_text(use.share), to_string(use.kind), use.name));
  if (faster > 0) {
    const Summary::ResourceUse& most = summary.most_used.front();
    const std::string others = faster > 1 ? fmt::format(" and {} more", faster - 1) : "";
    uses.insert(uses.begin(), fmt::format("{} {}{}, up to {:.1f} times as fast as described", to_string(most.kind),
                                          most.name, others, most.share));
  }
  if (!uses.empty()) return fmt::format("{}", fmt::join(uses, ", "));
  if (summary.most_used.empty()) return "nothing";
  const Summary::ResourceUse& most = summary.most_used.front();
  return fmt::format("nothing; most used: {} {} {}", share_text(most.share), to_string(most.kind), most.name);
}

std::string bound_text(const Summary& summary) {
  const double bound = summary.bound.time.value;
  if (bound == 0) return "0 s";
  return fmt::format("{} ({}), {:.2f} x", seconds_text(bound), summary.bound.binding, summary.makespan_s / bound);
}

Json interval_json(const PredictedInterval& interval) {
  return {{"level", Uncertainty::level}, {"low_s", interval.low}, {"high_s", interval.high}};
}

std::string run_section(const Summary& summary) {
  const TimelineMetadata& metadata = summary.metadata;
  Lines lines = {{"problem", metadata.problem},
                 {"machine", fmt::format("{}, devices {}", metadata.machine, fmt::join(metadata.devices, " "))},
                 {"policy", fmt::format("{}, tile {}", metadata.policy, metadata.tile)},
                 {"plan", fmt::format("{}, {} operations, {}", metadata.plan_hash, summary.ops,
                                      summary.plan_s > 0 ? "planned in " + seconds_text(summary.plan_s) : "read")},
                 {"backend", fmt::format("{}, took {}", metadata.backend, seconds_text(summary.execute_s))},
                 {"makespan", makespan_text(summary)},
                 {"bound", bound_text(summary)},
                 {"moved", fmt::format("{}: {} in, {} out, {} between GPUs", bytes_text(summary.bytes_moved),
                                       bytes_text(summary.bytes_in), bytes_text(summary.bytes_out),
                                       bytes_text(summary.bytes_peer))},
                 {"bottleneck", path_text(summary)},
                 {"saturated", saturated_text(summary)}};
  if (summary.plan_machine != metadata.machine)
    lines.insert(lines.begin() + 4, {"made for", fmt::format("{}: a plan of another machine than the one of this run",
                                                             summary.plan_machine)});
  if (!summary.note.empty()) lines.insert(lines.begin() + 1, {"note", summary.note});
  if (!summary.ran_on.empty()) {  // the bound of the described GPUs does not apply to CPU threads
    std::erase_if(lines, [](const auto& line) { return line.front() == "bound"; });
    lines.insert(lines.begin(), {"ran on", summary.ran_on});
  }
  const auto after = [&](const char* name, std::vector<std::string> line) {
    const auto at = std::ranges::find(lines, name, [](const auto& l) { return l.front(); });
    lines.insert(std::next(at), std::move(line));
  };
  if (metadata.interval) after("makespan", {"interval", interval_text(*metadata.interval)});
  if (summary.graph) after("backend", {"handed over", *summary.graph ? "as one graph" : "one operation after another"});
  if (summary.energy) lines.push_back({"energy", energy_text(summary)});
  if (!summary.library.empty()) lines.push_back({"emulated", summary.library + ", in simulations"});
  if (!summary.plan_cache.empty()) lines.push_back({"chosen", summary.plan_cache});
  if (!summary.without_effect.empty())
    lines.push_back({"no effect", fmt::format("{}", fmt::join(summary.without_effect, "; "))});
  return aligned(lines, "l");
}

/// How full each memory is.
Lines memory_lines(const Summary& summary) {
  Lines lines = {{"memory", "matrices", "tiles", "both", "capacity", "used"}};
  for (const auto& memory : summary.memories) {
    if (!is_shown(memory)) continue;
    lines.push_back({memory.name, bytes_text(memory.matrix_bytes), bytes_text(double(memory.peak_bytes)),
                     bytes_text(memory.bytes())});
    if (const auto& capacity = memory.capacity_bytes)
      lines.back().insert(lines.back().end(), {bytes_text(*capacity), share_text(memory.bytes() / *capacity)});
    else
      lines.back().insert(lines.back().end(), {"unknown", "-"});
  }
  return lines;
}

void append_section(std::string& text, const Lines& lines) {
  if (lines.size() > 1) text += fmt::format("\n{}", aligned(lines, "lr"));
}

}  // namespace

std::string to_json(const Summary& summary) {
  const TimelineMetadata& metadata = summary.metadata;
  Json json = {{"schema", 1},
               {"version", metadata.version},
               {"makespan_s", summary.makespan_s},
               {"bound_s", summary.bound.time.value},
               {"bound_by", summary.bound.binding},
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
               {"problem", problem_json(summary)},
               {"bytes_moved", summary.bytes_moved},
               {"bytes_in", summary.bytes_in},
               {"bytes_out", summary.bytes_out},
               {"bytes_peer", summary.bytes_peer}};
  if (const auto& interval = metadata.interval) json["interval"] = interval_json(*interval);
  if (summary.graph) json["graph"] = *summary.graph;
  if (!summary.library.empty()) json["emulated"] = summary.library;
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
  Lines devices = {{"device", "kernels", "busy", "idle"}};
  if (summary.energy) devices.front().push_back("energy");
  for (const auto& device : summary.devices) {
    devices.push_back({device.name, seconds_text(device.busy_s), of_makespan(summary, device.busy_s),
                       of_makespan(summary, device.idle_s)});
    if (summary.energy) devices.back().push_back(joules_text(*device.energy_j));
  }
  append_section(text, devices);
  append_section(text, memory_lines(summary));

  Lines queues = {{"copy queue", "ops", "busy", "of makespan", "bytes"}};
  std::vector<Summary::QueueUse> by_name = summary.queues;
  std::ranges::sort(by_name, natural_less, &Summary::QueueUse::name);
  for (const auto& queue : by_name) {
    if (queue.bytes == 0) continue;
    queues.push_back({queue.name, std::to_string(queue.ops), seconds_text(queue.busy_s),
                      of_makespan(summary, queue.busy_s), bytes_text(queue.bytes)});
  }
  append_section(text, queues);

  Lines links = {{"link", "busy", "of makespan", "bytes", "utilisation"}};
  for (const auto& link : summary.links) {
    if (link.bytes == 0) continue;
    links.push_back({link.name, seconds_text(link.busy_s), of_makespan(summary, link.busy_s), bytes_text(link.bytes),
                     share_text(link.utilisation)});
  }
  append_section(text, links);

  Lines groups = {{"group", "bytes", "utilisation"}};
  for (const auto& group : summary.groups) {
    if (group.bytes == 0) continue;
    groups.push_back(
        {group.name, bytes_text(group.bytes), group.utilisation ? share_text(*group.utilisation) : std::string{"-"}});
  }
  append_section(text, groups);
  return text;
}

}  // namespace tilerail
