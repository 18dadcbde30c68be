#include "study/sweep/run_sweep.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "study/json_cells.hpp"

namespace tilerail::study {
namespace {

using Json = nlohmann::ordered_json;

/// The row of a point that cannot be planned, or whose run fails, has an error in place of results.
Json row_of(const Sweep& sweep, const Machines& machines, const SweepStamp& stamp, size_t point) {
  try {
    return cells_of(sweep, machines, stamp, point);
  } catch (const InputError& error) {
    return empty_cells(sweep, stamp, point, error.what());
  } catch (const ExecutionError& error) {
    return empty_cells(sweep, stamp, point, error.what());
  }
}

}  // namespace

SweepPart parse_part(const std::string& text) {
  constexpr int64_t most = 100000;
  const auto parts = split(text, '/');
  if (parts.size() != 2) throw InputError{"part", text, "is not a part", "such as 3/8"};
  const int64_t of = parse_integer(parts[1], "part", 1, most);
  return {size_t(parse_integer(parts[0], "part", 1, of)), size_t(of)};
}

SweepRun run_sweep(const Sweep& sweep, const Machines& machines, const SweepStamp& stamp, const SweepPart& part,
                   const Workers& workers) {
  SweepRun run;
  run.header = csv_header(empty_cells(sweep, stamp, 0, ""));
  const size_t first = part.number - 1, all = sweep.points();
  run.points = all > first ? (all - first - 1) / part.of + 1 : 0;
  std::mutex mutex;
  in_parallel(workers, run.points, [&](size_t i) {
    const size_t point = first + i * part.of;
    Json row = row_of(sweep, machines, stamp, point);
    const std::lock_guard lock{mutex};
    if (!row["error"].is_null()) ++run.failed;
    run.rows[point] = std::move(row);
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
