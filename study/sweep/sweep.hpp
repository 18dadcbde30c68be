#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/base/table.hpp"
#include "study/evaluation.hpp"
#include "study/job.hpp"
#include "study/parallel.hpp"

namespace tilerail::study {

/// Keys that take the same values, one after another.
struct SweepAxis {
  std::vector<std::string> keys;
  std::vector<std::string> values;  // "50 GB/s"
  std::vector<double> numbers =
      {};                  // the values if all are numbers with one unit; 16K is 16384
  std::string unit = {};   // of the numbers: "GB/s", "x" for factors, "" without a unit
  std::string place = {};  // "vary 'TEXT'"

  /// The keys joined by " & ", and "_GB/s" if the values have a unit.
  std::string column() const;
};

/// "KEY=VALUES" or "KEY & KEY=VALUES". Names in keys may contain '=' and '&': the text is
/// split where both sides have valid keys. Values are a list, "4K,8K" or, if values
/// contain commas, "8K,8K,64;16K". "25..1600 x2 GB/s" stands for 25, 50, ... 1600 GB/s
/// and "2..8 +2" for 2, 4, 6, 8, with both ends if a step meets them. Numbers without a
/// unit have the last value's unit. Throws InputError with the text.
SweepAxis parse_axis(const std::string& text);

/// All combinations of the values of the axes; the last axis changes fastest.
struct Sweep {
  JobText base;
  std::vector<SweepAxis> axes;

  size_t points() const;
  size_t index(size_t point, size_t axis) const;  // of the value
  JobText job(size_t point) const { return job(point, axes.size()); }
  /// With the first `count` axes alone.
  JobText job(size_t point, size_t count) const;
};

/// Parses the axes with parse_axis().
Sweep sweep_of(JobText base, const std::vector<std::string>& axes);

/// Loads the machines and checks the base, and every value of each axis with the first
/// values of the other axes. Throws InputError, at the axis if its key or value is
/// invalid.
/// `machines`: known ones, which are not loaded.
Machines check_sweep(const Sweep& sweep, Machines machines = {});

/// The machine of a job of the sweep.
Topology machine_of(const JobText& job, const Machines& machines);

/// A planned and simulated point.
struct SweepRow {
  size_t point = 0;
  std::optional<Json> cells = {};         // of the result, by the names of its columns
  std::optional<std::string> error = {};  // without a result

  bool has_result() const { return cells.has_value(); }
  double number(const char* column) const { return cells->at(column); }
  std::string text(const char* column) const { return cells->at(column); }
};

/// docs/formats.md#sweep. The columns after the first are the axes. Keeps a reference to
/// the sweep.
Columns<SweepRow> columns_of(const Sweep& sweep);

/// Plans and simulates a point. Several threads can share the plans.
SweepRow run_point(const Sweep& sweep, const Machines& machines, UnchangedPlans& plans,
                   size_t point);

class SweepJournal;

/// The same for all points that are not in the journal, and appends their rows to the
/// journal. Returns a row for each completed point, ascending.
std::vector<SweepRow> run_sweep(const Sweep& sweep, const Machines& machines,
                                const Workers& workers, SweepJournal* journal = nullptr);

}  // namespace tilerail::study
