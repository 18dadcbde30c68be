#include "study/sweep/run_sweep.hpp"

#include <fmt/format.h>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "study/json_cells.hpp"
#include "study/sweep/journal.hpp"

namespace tilerail::study {
namespace {

using Json = nlohmann::ordered_json;

/// The names of the members, in order.
std::vector<std::string> names_of(const Json& cells) {
  std::vector<std::string> names;
  for (const auto& [name, _] : cells.items()) names.push_back(name);
  return names;
}

/// A line of the journal as a row of this part.
Json read_cells(const Journal& journal, std::size_t point, const Json& columns, const SweepPart& part) {
  if (point >= columns["points"] || point % part.of != part.number - 1)
    journal.refuse(point, fmt::format("point {} is not in this part of the sweep", point));
  Json cells = Json::parse(journal.done().at(point), nullptr, false);
  if (!cells.is_object()) journal.refuse(point, fmt::format("the line of point {} is no JSON object", point));
  if (names_of(cells) != names_of(columns) || cells["sweep"] != columns["sweep"] || cells["point"] != point ||
      cells["points"] != columns["points"] || !cells["makespan_s"].is_number() || !cells["error"].is_null())
    journal.refuse(point, fmt::format("the line of point {} is no row of this sweep", point));
  return cells;
}

}  // namespace

SweepPart parse_part(const std::string& text) {
  constexpr std::int64_t most = 100000;
  const auto parts = split(text, '/');
  if (parts.size() != 2) throw InputError{fmt::format("--part: {} is no part; expected as 3/8", in_quotes(text))};
  const std::int64_t of = parse_integer(parts[1], "--part", 1, most);
  return {static_cast<std::size_t>(parse_integer(parts[0], "--part", 1, of)), static_cast<std::size_t>(of)};
}

std::string journal_header(const SweepStamp& stamp, const SweepPart& part) {
  return fmt::format("tilerail sweep {} part {}/{} version {}", stamp.hash, part.number, part.of, stamp.version);
}

SweepRun run_sweep(const Sweep& sweep, const Machines& machines, const SweepStamp& stamp, const SweepPart& part,
                   Journal* journal, const Processes& processes) {
  SweepRun run;
  const Json columns = empty_cells(sweep, stamp, 0, "");
  run.header = csv_header(columns);
  if (journal)
    for (const auto& [point, _] : journal->done()) run.rows[point] = read_cells(*journal, point, columns, part);
  run.resumed = run.rows.size();
  std::vector<std::size_t> left;
  for (std::size_t point = part.number - 1; point < sweep.points(); point += part.of)
    if (!run.rows.contains(point)) left.push_back(point);
  in_processes(
      processes, left,
      [&](std::size_t point) {
        return cells_of(sweep, machines, stamp, point).dump(-1, ' ', true, Json::error_handler_t::replace);
      },
      [&](const TaskEnd& end) {
        if (end.no_hardware) throw HardwareError{end.text};
        if (end.failed) {
          run.failed.push_back(end.task);
          run.rows[end.task] = empty_cells(sweep, stamp, end.task, end.text);
          return;
        }
        run.rows[end.task] = Json::parse(end.text);
        if (journal) journal->add(end.task, end.text);
      });
  return run;
}

std::string to_csv(const SweepRun& run) {
  std::string csv = run.header;
  for (const auto& [_, cells] : run.rows) csv += csv_line(cells);
  return csv;
}

std::string to_json(const SweepRun& run) {
  Json json{{"schema", 1}, {"rows", Json::array()}};
  for (const auto& [_, cells] : run.rows) json["rows"].push_back(cells);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilerail::study
