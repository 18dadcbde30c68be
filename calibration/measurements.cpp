#include "calibration/measurements.hpp"

#include "model/base/json_parser.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

constexpr int schema = 1;
constexpr std::array<std::string_view, 2> page_names = {"spread", "plain"};

Json json_of(const Measured& m) { return Json::array({m.mean, m.half_width, m.count}); }

Json json_of(const TransferRun& run) {
  Json flows = Json::array();
  for (const auto& f : run.flows) flows.push_back({f.src, f.dst, f.in_flight, json_of(f.rate)});
  return {{"kind", run.kind},
          {"pages", page_names[static_cast<std::size_t>(run.pages)]},
          {"copy_bytes", run.copy_bytes},
          {"column_bytes", run.column_bytes},
          {"flows", flows},
          {"total", json_of(run.total)}};
}

Json json_of(const LatencyRun& run) {
  return {{"src", run.src}, {"dst", run.dst}, {"issued", json_of(run.issued)}, {"waited", json_of(run.waited)}};
}

Json json_of(const StridedRun& run) {
  Json json = {{"src", run.src},
               {"dst", run.dst},
               {"column_bytes", run.column_bytes},
               {"columns", run.columns},
               {"pitch_bytes", run.pitch_bytes},
               {"between_bytes", run.between_bytes},
               {"strided", json_of(run.strided)},
               {"packed", json_of(run.packed)}};
  if (run.beside) json["beside"] = true;
  return json;
}

Json json_of(const KernelRun& run) {
  Json json = {{"gpu", run.gpu},         {"dtype", to_string(run.dtype)},
               {"trans", run.trans},     {"size", {run.m, run.n, run.k}},
               {"at_once", run.at_once}, {"alignment", run.alignment},
               {"duty", run.duty},       {"seconds", json_of(run.seconds)},
               {"watts", run.watts},     {"watts_seconds", run.watts_seconds}};
  if (run.issue.count > 0) json["issue"] = json_of(run.issue);
  return json;
}

Json json_of(const LoadSeries& series) {
  Json points = Json::array();
  for (const LoadSeries::Point& point : series.points) points.push_back({point.at, point.seconds});
  return {{"gpu", series.gpu}, {"dtype", to_string(series.dtype)}, {"size", series.size}, {"points", points}};
}

Json json_of(const MemoryRun& run) { return {{"gpu", run.gpu}, {"rate", json_of(run.rate)}}; }

Json json_of(const IssueRun& run) {
  return {{"what", run.what}, {"threads", run.threads}, {"seconds", json_of(run.seconds)}};
}

Json json_of(const DeviceRecord& device) {
  return {{"name", device.name},
          {"number", device.number},
          {"model", device.model},
          {"memory_bytes", device.memory_bytes},
          {"multiprocessors", device.multiprocessors},
          {"idle_watts", device.idle_watts},
          {"limit_watts", device.limit_watts}};
}

/// One run a line: the file can be read, and compared, line by line.
template <class Run>
std::string lines_of(const char* key, const std::vector<Run>& runs) {
  std::string text = std::string{",\n\""} + key + "\": [";
  for (const Run& run : runs) text += (&run == runs.data() ? "\n  " : ",\n  ") + json_of(run).dump();
  return text + "\n]";
}

double positive(const JsonReader& r) {
  const double value = r.real();
  if (!(value > 0)) r.fail("a number above 0");
  return value;
}

Measured read_measured(const JsonReader& r) {
  r.sized(3);
  return {positive(r.entry(0)), r.entry(1).real(), static_cast<std::size_t>(r.entry(2).integer(1, INT32_MAX))};
}

TransferRun read_transfer(const JsonReader& r) {
  r.only({"kind", "pages", "copy_bytes", "column_bytes", "flows", "total"});
  TransferRun run;
  run.kind = r.at("kind").text();
  run.pages = static_cast<HostPages>(r.at("pages").one_of(page_names));
  run.copy_bytes = positive(r.at("copy_bytes")), run.column_bytes = r.at("column_bytes").real();
  if (run.column_bytes < 0) r.at("column_bytes").fail("a number from 0");
  run.total = read_measured(r.at("total"));
  const JsonReader flows = r.at("flows");
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const JsonReader f = flows.entry(i).sized(4);
    run.flows.push_back({f.entry(0).text(), f.entry(1).text(), static_cast<int>(f.entry(2).integer(1, 1024)),
                         read_measured(f.entry(3))});
  }
  if (run.flows.empty()) flows.fail("a list of at least one flow");
  return run;
}

LatencyRun read_latency(const JsonReader& r) {
  r.only({"src", "dst", "issued", "waited"});
  return {r.at("src").text(), r.at("dst").text(), read_measured(r.at("issued")), read_measured(r.at("waited"))};
}

StridedRun read_strided(const JsonReader& r) {
  r.only(
      {"src", "dst", "column_bytes", "columns", "pitch_bytes", "between_bytes", "busy", "beside", "strided", "packed"});
  // Older files say instead whether kernels ran meanwhile.
  const bool older = r.has("busy") && !r.has("between_bytes");
  return {r.at("src").text(),
          r.at("dst").text(),
          positive(r.at("column_bytes")),
          positive(r.at("columns")),
          positive(r.at("pitch_bytes")),
          !older                   ? r.at("between_bytes").not_negative()
          : r.at("busy").boolean() ? fills_any_cache
                                   : 0,
          r.has("beside") && r.at("beside").boolean(),
          read_measured(r.at("strided")),
          read_measured(r.at("packed"))};
}

KernelRun read_kernel(const JsonReader& r) {
  r.only(
      {"gpu", "dtype", "trans", "size", "at_once", "alignment", "duty", "seconds", "watts", "watts_seconds", "issue"});
  KernelRun run;
  run.gpu = r.at("gpu").text();
  run.dtype = r.at("dtype").parsed(dtype_from_string);
  run.trans = r.at("trans").text();
  if (run.trans.size() != 2 || run.trans.find_first_not_of("NT") != std::string::npos)
    r.at("trans").fail("two letters, each N or T");
  const JsonReader size = r.at("size").sized(3);
  const auto extent = [&](std::size_t i) { return size.entry(i).integer(1, most_extent); };
  run.m = extent(0), run.n = extent(1), run.k = extent(2);
  run.at_once = static_cast<int>(r.at("at_once").integer(1, 1024));
  run.alignment = static_cast<int>(r.at("alignment").integer(0, 4096));
  run.duty = r.at("duty").real();
  if (run.duty < 0 || run.duty > 1) r.at("duty").fail("a number from 0 to 1");
  run.seconds = read_measured(r.at("seconds"));
  run.watts = r.at("watts").real();
  if (r.has("watts_seconds")) run.watts_seconds = r.at("watts_seconds").real();
  if (r.has("issue")) run.issue = read_measured(r.at("issue"));
  return run;
}

LoadSeries read_load(const JsonReader& r) {
  r.only({"gpu", "dtype", "size", "points"});
  LoadSeries series;
  series.gpu = r.at("gpu").text();
  series.dtype = r.at("dtype").parsed(dtype_from_string);
  series.size = r.at("size").integer(1, most_extent);
  const JsonReader points = r.at("points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const JsonReader point = points.entry(i).sized(2);
    series.points.push_back({positive(point.entry(0)), positive(point.entry(1))});
  }
  return series;
}

MemoryRun read_memory(const JsonReader& r) {
  r.only({"gpu", "rate"});
  return {r.at("gpu").text(), read_measured(r.at("rate"))};
}

IssueRun read_issue(const JsonReader& r) {
  r.only({"what", "threads", "seconds"});
  return {r.at("what").text(), static_cast<int>(r.at("threads").integer(1, 1024)), read_measured(r.at("seconds"))};
}

DeviceRecord read_device(const JsonReader& r) {
  r.only({"name", "number", "model", "memory_bytes", "multiprocessors", "idle_watts", "limit_watts"});
  return {r.at("name").text(),
          static_cast<int>(r.at("number").integer(0, 1023)),
          r.at("model").text(),
          positive(r.at("memory_bytes")),
          static_cast<int>(r.at("multiprocessors").integer(1, 1 << 20)),
          r.at("idle_watts").real(),
          r.at("limit_watts").real()};
}

template <class Run>
void read_all(const JsonReader& root, const char* key, Run (*read)(const JsonReader&), std::vector<Run>& runs) {
  const JsonReader array = root.at(key);
  for (std::size_t i = 0; i < array.size(); ++i) runs.push_back(read(array.entry(i)));
}

}  // namespace

std::string to_json(const Measurements& m) {
  const Json head = {{"schema", schema},
                     {"machine", m.machine},
                     {"date", m.date},
                     {"command", m.command},
                     {"host_bytes", m.host_bytes}};
  std::string text = head.dump();
  text.pop_back();
  text += lines_of("devices", m.devices) + lines_of("latencies", m.latencies) + lines_of("transfers", m.transfers);
  text += lines_of("strided", m.strided) + lines_of("kernels", m.kernels) + lines_of("memory", m.memory);
  if (!m.graph_kernels.empty()) text += lines_of("graph_kernels", m.graph_kernels);
  if (!m.loads.empty()) text += lines_of("loads", m.loads);
  return text + lines_of("issue", m.issue) + "}\n";
}

Measurements measurements_from_json(std::string_view json, const std::string& file) {
  const Json j = parse_json(json, file);
  const JsonReader root{j, file, ""};
  root.only({"schema", "machine", "date", "command", "host_bytes", "devices", "latencies", "transfers", "strided",
             "kernels", "graph_kernels", "loads", "memory", "issue"});
  root.at("schema").integer(schema, schema);
  Measurements m;
  m.machine = root.at("machine").text(), m.date = root.at("date").text(), m.command = root.at("command").text();
  if (!is_name(m.machine)) root.at("machine").fail(expected_name);
  m.host_bytes = positive(root.at("host_bytes"));
  read_all(root, "devices", read_device, m.devices);
  read_all(root, "latencies", read_latency, m.latencies);
  read_all(root, "transfers", read_transfer, m.transfers);
  read_all(root, "strided", read_strided, m.strided);
  read_all(root, "kernels", read_kernel, m.kernels);
  if (root.has("loads")) read_all(root, "loads", read_load, m.loads);
  read_all(root, "memory", read_memory, m.memory);
  if (root.has("graph_kernels")) read_all(root, "graph_kernels", read_kernel, m.graph_kernels);
  read_all(root, "issue", read_issue, m.issue);
  if (m.devices.empty()) root.at("devices").fail("a list of at least one device");
  return m;
}

}  // namespace tilerail
