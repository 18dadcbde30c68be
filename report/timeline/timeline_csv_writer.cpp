#include "report/timeline/timeline_csv.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include "model/base/csv_cells.hpp"
#include "model/base/indices.hpp"
#include "report/timeline/timeline_columns.hpp"

namespace tilerail {
namespace {

using namespace timeline_csv;

std::string joined(const std::vector<std::string>& names) {
  return boost::join(names, list_separator);
}

void append_metadata(std::string& csv, std::string_view key, std::string_view value) {
  csv += "# ";
  csv += key;
  csv += '=';
  std::string quoted;
  append_cell(
      quoted,
      value);  // throws for control characters; the rest of the line needs no quotes
  csv += value;
  csv += '\n';
}

/// Appends nothing without values.
void append_numbers(std::string& csv, std::string_view key,
                    const std::vector<double>& values) {
  std::vector<std::string> numbers(values.size());
  for (const auto i : indices(values)) append_number(numbers[i], values[i]);
  if (!numbers.empty()) append_metadata(csv, key, joined(numbers));
}

void append_row(std::string& csv, int64_t id, const AnnotatedOp& row,
                const AnnotatedQueue& where, const std::string& region) {
  const auto text = [&](std::string_view cell) {
    csv += ',';
    append_cell(csv, cell);
  };
  const auto number = [&](auto value) {
    csv += ',';
    append_number(csv, value);
  };
  append_number(csv, id);
  text(to_string(row.kind));
  text(where.name);
  text(where.device);
  text(where.src);
  text(where.dst);
  number(row.bytes);
  number(row.flops);
  text(where.route);
  text(region);
  number(row.ready);
  number(row.start);
  number(row.end);
  csv += '\n';
}

}  // namespace

std::string to_csv(const AnnotatedTimeline& timeline) {
  const TimelineMetadata& metadata = timeline.metadata;
  std::string csv;
  constexpr size_t usual_row = 160;
  csv.reserve(1024 + usual_row * timeline.ops.size());
  append_metadata(csv, "schema", schema);
  append_metadata(csv, "version", metadata.version);
  append_metadata(csv, "plan_hash", metadata.plan_hash);
  append_metadata(csv, "machine", metadata.machine);
  append_metadata(csv, "policy", metadata.policy);
  append_metadata(csv, "problem", metadata.problem);
  append_metadata(csv, "tile", std::to_string(metadata.tile));
  append_metadata(csv, "backend", metadata.backend);
  append_metadata(csv, "devices", joined(metadata.devices));
  append_metadata(csv, "hosts", joined(metadata.hosts));
  append_numbers(csv, optional_keys[0], metadata.energy_j);
  append_numbers(csv, optional_keys[1], metadata.counted_energy_j);
  if (metadata.interval)
    append_numbers(csv, optional_keys[2],
                   {metadata.interval->low, metadata.interval->high});
  append_metadata(csv, "ops", std::to_string(timeline.ops.size()));
  csv += fmt::format("{}\n", fmt::join(columns, ","));
  for (const auto i : indices(timeline.ops)) {
    const AnnotatedOp& row = timeline.ops[i];
    append_row(csv, int64_t(i), row, timeline.queue_of(row), timeline.label_of(row));
  }
  return csv;
}

}  // namespace tilerail
