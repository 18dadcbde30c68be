#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tilerail::study {

/// A table of a sweep (docs/formats.md#sweep) as text: its columns, and its rows by point.
struct SweepTable {
  std::vector<std::string> columns;
  size_t first_axis = 0, axes = 0;  // columns of the axes
  struct Row {
    std::vector<std::string> cells;
    std::string line;  // as it stands in the file, without its end
  };
  std::map<size_t, Row> rows;
  std::string header;  // the line
  std::string sweep;   // the hash
  size_t points = 0;   // of the whole sweep

  /// Of a column that is there.
  const std::string& cell(const Row& row, std::string_view column) const;
  bool has(std::string_view column) const;
};

/// Without rows, it is that of a part without points. Throws InputError naming file, line and column.
SweepTable read_sweep_table(const std::string& csv, const std::string& file);

/// The tables of all parts of one sweep as one. Throws InputError naming the files where they are of different sweeps,
/// where a point is there twice, and where one is missing.
SweepTable joined(const std::vector<std::string>& files);

/// The lines, by point.
std::string to_csv(const SweepTable& table);

}  // namespace tilerail::study
