#include "calibration/measurements.hpp"

#include <concepts>
#include <type_traits>

#include "model/base/indices.hpp"
#include "model/base/json_parser.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

constexpr int schema = 1;
constexpr std::array<std::string_view, 2> page_names = {"spread", "plain"};

constexpr struct Positive {
} positive;

bool is_trans(std::string_view text) {
  return text.size() == 2 && text.find_first_not_of("NT") == text.npos;
}

struct Extents {
  long long m = 0, n = 0, k = 0;
};

// The fields of each run, defined once for the writer, the reader and the list of keys:
// field(KEY, VALUE, LIMITS ...). An optional field with its default value is omitted.
// Rows are arrays without keys.

void fields(auto& field, SampleMean& x) {
  field.row(3);
  field("mean", x.mean, positive);
  field("half_width", x.half_width);
  field("count", x.count, 1, INT32_MAX);
}

void fields(auto& field, Extents& x) {
  field.row(3);
  for (long long* const extent : {&x.m, &x.n, &x.k}) field("", *extent, 1, most_extent);
}

void fields(auto& field, LoadSeries::Point& x) {
  field.row(2);
  field("at", x.at, positive);
  field("seconds", x.seconds, positive);
}

void fields(auto& field, TransferRun::Flow& x) {
  field.row(4);
  field("src", x.src);
  field("dst", x.dst);
  field("in_flight", x.in_flight, 1, 1024);
  field("rate", x.rate);
}

void fields(auto& field, TransferRun& x) {
  field("kind", x.kind);
  field("pages", x.pages);
  field("copy_bytes", x.copy_bytes, positive);
  field("column_bytes", x.column_bytes);
  field("flows", x.flows, 1);
  field("total", x.total);
}

void fields(auto& field, LatencyRun& x) {
  field("src", x.src);
  field("dst", x.dst);
  field("issued", x.issued);
  field("waited", x.waited);
}

void fields(auto& field, StridedRun& x) {
  field("src", x.src);
  field("dst", x.dst);
  field("column_bytes", x.column_bytes, positive);
  field("columns", x.columns, positive);
  field("pitch_bytes", x.pitch_bytes, positive);
  bool busy = false;
  field.optional("busy", busy,
                 false);  // older files have this field instead of the bytes: whether
                          // kernels ran between copies
  if (busy) x.between_bytes = fills_any_cache;
  field.optional("between_bytes", x.between_bytes, true);
  field("strided", x.strided);
  field("packed", x.packed);
  field.optional("beside", x.beside, x.beside);
}

void fields(auto& field, KernelRun& x) {
  Extents size{x.m, x.n, x.k};
  field("gpu", x.gpu);
  field("dtype", x.dtype);
  field("trans", x.trans, is_trans, "two letters, each N or T");
  field("size", size);
  field("at_once", x.at_once, 1, 1024);
  field("alignment", x.alignment, 0, 4096);
  field("duty", x.duty, 1.0);
  field("seconds", x.seconds);
  field("watts", x.watts);
  field.optional("watts_seconds", x.watts_seconds, true);
  field.optional("issue", x.issue, x.issue.count > 0);
  x.m = size.m;
  x.n = size.n;
  x.k = size.k;
}

void fields(auto& field, LoadSeries& x) {
  field("gpu", x.gpu);
  field("dtype", x.dtype);
  field("size", x.size, 1, most_extent);
  field("points", x.points);
}

void fields(auto& field, MemoryRun& x) {
  field("gpu", x.gpu);
  field("rate", x.rate);
}

void fields(auto& field, CoreRun& x) {
  field("dtype", x.dtype);
  field("size", x.size, 1, most_extent);
  field("seconds", x.seconds);
}

void fields(auto& field, IssueRun& x) {
  field("what", x.what);
  field("threads", x.threads, 1, 1024);
  field("seconds", x.seconds);
}

void fields(auto& field, DeviceRecord& x) {
  field("name", x.name);
  field("number", x.number, 0, 1023);
  field("model", x.model);
  field("memory_bytes", x.memory_bytes, positive);
  field("multiprocessors", x.multiprocessors, 1, 1 << 20);
  field("idle_watts", x.idle_watts);
  field("limit_watts", x.limit_watts);
}

void fields(auto& field, Measurements& x) {
  int version = schema;
  field("schema", version, schema, schema);
  field("machine", x.machine, is_name, expected_name);
  field("date", x.date);
  field("command", x.command);
  field("host_bytes", x.host_bytes, positive);
  field("devices", x.devices, 1);
  field("latencies", x.latencies);
  field("transfers", x.transfers);
  field("strided", x.strided);
  field("kernels", x.kernels);
  field("memory", x.memory);
  field.optional("graph_kernels", x.graph_kernels, !x.graph_kernels.empty());
  field.optional("loads", x.loads, !x.loads.empty());
  field.optional("cores", x.cores, !x.cores.empty());
  field("issue", x.issue);
}

Json json_of(const auto& run);
template <class T>
Json json_of(const std::vector<T>& list) {
  Json array = Json::array();
  for (const T& entry : list) array.push_back(json_of(entry));
  return array;
}
Json json_of(DType dtype) { return to_string(dtype); }
Json json_of(HostPages pages) { return page_names[size_t(pages)]; }
template <class T>
requires std::is_arithmetic_v<T> || std::same_as<T, std::string> Json
json_of(const T& value) {
  return value;
}

struct Writer {
  Json json = Json::object();

  void row(size_t) { json = Json::array(); }
  void operator()(const char* key, const auto& value, const auto&...) {
    if (json.is_array())
      json.push_back(json_of(value));
    else
      json[key] = json_of(value);
  }
  void optional(const char* key, const auto& value, bool is_there) {
    if (is_there) (*this)(key, value);
  }
};

Json json_of(const auto& run) {
  auto copy = run;
  Writer writer;
  fields(writer, copy);
  return writer.json;
}

void read(const JsonReader& r, auto& run);
void read(const JsonReader& r, std::string& value) { value = r.text(); }
void read(const JsonReader& r, std::string& value, bool (*is_legal)(std::string_view),
          std::string_view expected) {
  value = r.text();
  if (!is_legal(value)) r.fail(std::string{expected});
}
void read(const JsonReader& r, double& value) { value = r.not_negative(); }
void read(const JsonReader& r, double& value, double most) {
  value = r.not_negative(most);
}
void read(const JsonReader& r, double& value, Positive) {
  value = r.real();
  if (!(value > 0)) r.fail("a number above 0");
}
void read(const JsonReader& r, bool& value) { value = r.boolean(); }
void read(const JsonReader& r, std::integral auto& value, int64_t least, int64_t most) {
  value = static_cast<std::remove_reference_t<decltype(value)>>(r.integer(least, most));
}
void read(const JsonReader& r, DType& value) { value = r.parsed(dtype_from_string); }
void read(const JsonReader& r, HostPages& value) {
  value = static_cast<HostPages>(r.one_of(page_names));
}
template <class T>
void read(const JsonReader& r, std::vector<T>& list, size_t least = 0) {
  if (r.size() < least) r.fail("a list of at least one");
  for (const auto i : indices(r)) read(r.entry(i), list.emplace_back());
}

struct Reader {
  const JsonReader& from;
  std::vector<std::string_view> known = {};
  bool is_row = false;

  void row(size_t width) {
    from.sized(width);
    is_row = true;
  }
  void operator()(const char* key, auto& value, const auto&... limits) {
    read(is_row ? from.entry(known.size()) : from.at(key), value, limits...);
    known.emplace_back(key);
  }
  void optional(const char* key, auto& value, bool) {
    if (from.has(key)) (*this)(key, value);
  }
};

void read(const JsonReader& r, auto& run) {
  Reader reader{r};
  fields(reader, run);
  if (!reader.is_row) r.only(reader.known);
}

}  // namespace

/// Writes one run per line, so that files can be compared line by line.
std::string to_json(const Measurements& measurements) {
  std::string text;
  const Json json = json_of(measurements);
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("{}\"{}\":",
                        text.empty()       ? "{"
                        : value.is_array() ? ",\n"
                                           : ",",
                        key);
    if (value.is_array()) {
      text += " [";
      for (const Json& run : value)
        text += (&run == &value.front() ? "\n  " : ",\n  ") + run.dump();
      text += "\n]";
    } else {
      text += value.dump();
    }
  }
  return text + "}\n";
}

Measurements measurements_from_json(std::string_view json, const std::string& file) {
  const Json j = parse_json(json, file);
  Measurements result;
  read(JsonReader{j, file, ""}, result);
  return result;
}

}  // namespace tilerail
