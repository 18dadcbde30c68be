#include "model/base/contains.hpp"
#include "report/timeline/timeline_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/base/csv_cells.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/indices.hpp"
#include "report/timeline/timeline_columns.hpp"

namespace tilerail {
namespace {

using namespace timeline_csv;

// Limits within which sums and nanoseconds are representable.
constexpr int64_t most_bytes = int64_t{1} << 53;
constexpr double most_flops = 1e30, most_seconds = 1e9, most_joules = 1e15;
constexpr int64_t most_ops = 1'000'000'000;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find(list_separator), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

using Metadata = std::map<std::string, CsvReader::Cell, std::less<>>;

/// The lines "# key=value" at the top, each key once.
Metadata read_metadata(CsvReader& reader) {
  Metadata metadata;
  while (reader.next_line_starts_with('#')) {
    reader.next_line();
    const std::string_view line = reader.line();
    const size_t equals = line.find('=');
    if (!line.starts_with("# ") || equals == std::string_view::npos)
      reader.fail(1, "expected '# key=value'");
    const std::string key{line.substr(2, equals - 2)};
    if (!contains(metadata_keys, key) && !contains(optional_keys, key)) {
      reader.fail(3, fmt::format("unknown key '{}'", excerpt(key)),
                  fmt::format("one of: {}, {}", fmt::join(metadata_keys, ", "),
                              fmt::join(optional_keys, ", ")));
    }
    if (!metadata
             .emplace(key, CsvReader::Cell{line.substr(equals + 1), reader.line_number(),
                                           equals + 2})
             .second) {
      reader.fail(3, fmt::format("'{}' is given twice", key));
    }
  }
  return metadata;
}

/// Reads the columns of rows into operations and queues.
class RowReader {
 public:
  RowReader(CsvReader& reader, AnnotatedTimeline& timeline)
      : reader_{reader}, timeline_{timeline} {}

  void read_row() {
    cells_ = &reader_.cells();
    if (cells_->size() != columns.size()) {
      reader_.fail(1, fmt::format("{} columns", cells_->size()),
                   std::to_string(columns.size()));
    }
    const int64_t id = reader_.integer(cell(op), columns[op], most_ops);
    AnnotatedOp row;
    row.kind = read_kind();
    row.queue = read_queue();
    row.bytes = reader_.integer(cell(bytes), columns[bytes], most_bytes);
    row.flops = reader_.number(cell(flops), columns[flops], most_flops);
    row.label = timeline_.labels.intern(cell(label).text);
    row.ready = reader_.number(cell(ready), columns[ready], most_seconds);
    row.start = reader_.number(cell(start), columns[start], most_seconds);
    row.end = reader_.number(cell(end), columns[end], most_seconds);
    if (row.end < row.start) {
      reader_.fail(cell(end), {"end_s", cell(end).text,
                               fmt::format("is before start_s {}", row.start)});
    }
    places_.push_back({id, reader_.line_number()});
    timeline_.ops.push_back(row);
  }

  /// Sorts the operations by id. Ids must be 0 .. ops - 1.
  void sort_ops() {
    const auto count = int64_t(timeline_.ops.size());
    std::vector<AnnotatedOp> sorted(timeline_.ops.size());
    std::vector<size_t> line_of(timeline_.ops.size(), 0);
    for (const auto i : indices(places_)) {
      const auto [id, line] = places_[i];
      if (id >= count) {
        reader_.fail({{}, line, 1}, out_of_range("op", std::to_string(id),
                                                 fmt::format("0 to {}", count - 1)));
      }
      size_t& earlier = line_of[size_t(id)];
      if (earlier != 0) {
        reader_.fail({{}, line, 1}, {"op", std::to_string(id),
                                     fmt::format("was already on line {}", earlier)});
      }
      earlier = line;
      sorted[size_t(id)] = timeline_.ops[i];
    }
    timeline_.ops = std::move(sorted);
  }

 private:
  struct Place {
    int64_t id;
    size_t line;
  };

  const CsvReader::Cell& cell(CsvColumn column) const { return (*cells_)[column]; }

  OpKind read_kind() const {
    std::vector<std::string_view> known;
    for (const OpKind candidate : all_op_kinds()) {
      if (cell(kind).text == to_string(candidate)) return candidate;
      known.push_back(to_string(candidate));
    }
    reader_.fail(cell(kind), {"kind", excerpt(cell(kind).text), "",
                              fmt::format("one of: {}", fmt::join(known, ", "))});
  }

  uint32_t read_queue() {
    const uint32_t number = names_.intern(cell(queue).text);
    std::vector<AnnotatedQueue>& queues = timeline_.queues;
    if (number == queues.size()) {
      for (const CsvColumn name : {queue, device, src, dst}) {
        if (cell(name).text.empty())
          reader_.fail(cell(name), {columns[name], "", "", "a name"});
      }
      queues.push_back({std::string{cell(queue).text}, std::string{cell(device).text},
                        std::string{cell(src).text}, std::string{cell(dst).text},
                        std::string{cell(route).text}});
      return number;
    }
    const AnnotatedQueue& known = queues[number];
    require_same(device, known.device);
    require_same(src, known.src);
    require_same(dst, known.dst);
    require_same(route, known.route);
    return number;
  }

  void require_same(CsvColumn column, const std::string& known) const {
    if (cell(column).text == known) return;
    reader_.fail(cell(column), {columns[column], excerpt(cell(column).text),
                                fmt::format("differs from '{}' of queue '{}' before",
                                            excerpt(known), excerpt(cell(queue).text))});
  }

  CsvReader& reader_;
  AnnotatedTimeline& timeline_;
  const std::vector<CsvReader::Cell>* cells_ = nullptr;
  StringTable names_;  // of queues
  std::vector<Place> places_;
};

/// One number per device.
std::vector<double> read_energies(const CsvReader::Cell& cell, std::string_view key,
                                  size_t devices, const CsvReader& reader) {
  std::vector<double> energies;
  for (const std::string& number : split(cell.text))
    energies.push_back(reader.number({number, cell.line, cell.column}, key, most_joules));
  if (energies.size() != devices)
    reader.fail(cell, {key, excerpt(cell.text), "",
                       fmt::format("a number for each of {} devices", devices)});
  return energies;
}

/// "low;high"
PredictedInterval read_interval(const CsvReader::Cell& cell, std::string_view key,
                                const CsvReader& reader) {
  const std::vector<std::string> ends = split(cell.text);
  if (ends.size() != 2)
    reader.fail(
        cell, {key, excerpt(cell.text), "", "two numbers, the low end and the high one"});
  const auto end = [&](size_t i) {
    return reader.number({ends[i], cell.line, cell.column}, key, most_seconds);
  };
  const PredictedInterval interval{end(0), end(1)};
  if (interval.high < interval.low)
    reader.fail(cell, {key, cell.text, "", "a low end and a higher one"});
  return interval;
}

TimelineMetadata checked_metadata(const Metadata& given, const CsvReader& reader) {
  for (const std::string_view key : metadata_keys) {
    if (!given.contains(key))
      reader.fail(1, fmt::format("no '# {}=' before the header", key));
  }
  const auto text = [&](std::string_view key) {
    return std::string{given.find(key)->second.text};
  };
  if (text("schema") != schema) {
    reader.fail(given.find("schema")->second,
                {"schema", excerpt(text("schema")), "", schema});
  }
  TimelineMetadata metadata;
  metadata.version = text("version");
  metadata.plan_hash = text("plan_hash");
  metadata.machine = text("machine");
  metadata.policy = text("policy");
  metadata.problem = text("problem");
  metadata.backend = text("backend");
  metadata.tile = reader.integer(given.find("tile")->second, "tile", most_bytes);
  metadata.devices = split(text("devices"));
  metadata.hosts = split(text("hosts"));
  const auto energies = [&](std::string_view key) {
    return given.contains(key) ? read_energies(given.find(key)->second, key,
                                               metadata.devices.size(), reader)
                               : std::vector<double>{};
  };
  metadata.energy_j = energies(optional_keys[0]);
  metadata.counted_energy_j = energies(optional_keys[1]);
  if (const auto interval = given.find(optional_keys[2]); interval != given.end())
    metadata.interval = read_interval(interval->second, optional_keys[2], reader);
  return metadata;
}

}  // namespace

AnnotatedTimeline timeline_from_csv(std::string_view csv, const std::string& file) {
  if (!csv.empty() && csv.find('#') > std::string_view{"\xEF\xBB\xBF"}.size())
    throw fault_of("", "this is not a timeline",
                   fmt::format("'# schema={}' in its first line", schema))
        .at(file);
  CsvReader reader{csv, file};
  const Metadata given = read_metadata(reader);
  if (!reader.next_line()) reader.fail(1, "the file ends before the header of the table");
  AnnotatedTimeline timeline;
  timeline.metadata = checked_metadata(given, reader);
  if (reader.line() != fmt::format("{}", fmt::join(columns, ","))) {
    reader.fail(1,
                fmt::format("other columns than expected: {}", fmt::join(columns, ",")));
  }
  const int64_t ops = reader.integer(given.find("ops")->second, "ops", most_ops);
  RowReader rows{reader, timeline};
  while (reader.next_line()) rows.read_row();
  if (int64_t(timeline.ops.size()) != ops) {
    reader.fail(1, fmt::format("{} operations up to here; '# ops=' says {}",
                               timeline.ops.size(), ops));
  }
  rows.sort_ops();
  return timeline;
}

AnnotatedTimeline load_timeline(const std::string& path) {
  return timeline_from_csv(read_file(path), path);
}

}  // namespace tilerail
