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

Json read_cells(const std::string& text, std::size_t point) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    throw InputError{fmt::format("the journal: the line of point {} is no JSON; remove the file to begin anew", point)};
  }
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
  if (journal)
    for (const auto& [point, text] : journal->done()) run.rows[point] = read_cells(text, point);
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
  std::string csv;
  for (const auto& [_, cells] : run.rows) {
    if (csv.empty()) csv = csv_header(cells);
    csv += csv_line(cells);
  }
  return csv;
}

std::string to_json(const SweepRun& run) {
  Json json{{"schema", 1}, {"rows", Json::array()}};
  for (const auto& [_, cells] : run.rows) json["rows"].push_back(cells);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilerail::study
