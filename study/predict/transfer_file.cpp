#include "study/predict/transfer_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/base/csv_cells.hpp"
#include "model/base/files.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"

namespace tilerail::study {
namespace {

constexpr Bytes element{8};
constexpr std::int64_t most_elements = 1'000'000'000, most_runs = 1'000'000'000;
constexpr double most_seconds = 1e9;

enum Column { rows, cols, mean, margin, runs, busy_mean, busy_margin, busy_runs, total };
constexpr const char* columns[] = {"rows",      "columns",     "mean",      "margin",    "runs",
                                   "mean busy", "margin busy", "runs busy", "total time"};

/// One line of the file.
class Row {
 public:
  explicit Row(CsvReader& csv) : csv_{csv}, cells_{csv.cells()} {
    if (cells_.size() != std::size(columns))
      csv.fail(1,
               fmt::format("{} columns; expected {}: {}", cells_.size(), std::size(columns), fmt::join(columns, ", ")));
    for (CsvReader::Cell& cell : cells_)
      for (; cell.text.starts_with(' '); ++cell.column) cell.text.remove_prefix(1);
  }

  double count(Column column, std::int64_t most) const {
    const std::int64_t value = csv_.integer(cells_[column], columns[column], most);
    if (value == 0) refuse(column, "a whole number from 1");
    return static_cast<double>(value);
  }
  Seconds seconds(Column column) const { return Seconds{csv_.number(cells_[column], columns[column], most_seconds)}; }
  Seconds duration(Column column) const {
    const Seconds value = seconds(column);
    if (value == Seconds{0}) refuse(column, "seconds above 0");
    return value;
  }

 private:
  [[noreturn]] void refuse(Column column, const char* expected) const {
    csv_.fail(cells_[column], fmt::format("{}: '{}'; expected {}", columns[column], cells_[column].text, expected));
  }

  CsvReader& csv_;
  std::vector<CsvReader::Cell> cells_;
};

/// The mean of copies of one element, else where the line of least relative squares starts, at least 0.
Seconds latency_of(const std::vector<TransferSample>& copies) {
  Seconds sum{0};
  double count = 0;
  for (const auto& [bytes, time] : copies)
    if (bytes == element) sum += time, count += 1;
  if (count > 0) return sum / count;
  const auto line = fit_transfer_line(copies);
  return line ? line->latency : Seconds{0};
}

}  // namespace

TransferTime read_transfer_time(const std::string& file) {
  const std::string text = read_file(file);
  CsvReader csv{text, file};
  std::vector<TransferSample> copies;
  std::vector<SlowedSample> slowed;
  Bytes most_bytes{0};
  while (csv.next_line()) {
    const Row row{csv};
    const Bytes bytes = element * row.count(rows, most_elements) * row.count(cols, most_elements);
    for (const Column column : {runs, busy_runs}) row.count(column, most_runs);
    for (const Column column : {margin, busy_margin, total}) row.seconds(column);
    copies.push_back({bytes, row.duration(mean)});
    slowed.push_back({row.duration(mean), row.duration(busy_mean)});
    most_bytes = std::max(most_bytes, bytes);
  }
  if (most_bytes <= element) csv.fail(1, "no copy of more than one element; expected at least one");
  TransferTime time = fit_transfer_time(latency_of(copies), copies);
  if (!TopologyLimits::latency.holds(time.latency))
    csv.fail(
        1, fmt::format("a copy of nothing takes {}; expected {}", to_text(time.latency), TopologyLimits::latency.text));
  if (const Rate rate = inverse(time.per_byte); !TopologyLimits::rate.holds(rate))
    csv.fail(1, fmt::format("large copies go at {}; expected {}", to_text(rate), TopologyLimits::rate.text));
  time.slowdown = fit_slowdown(slowed);
  return time;
}

}  // namespace tilerail::study
