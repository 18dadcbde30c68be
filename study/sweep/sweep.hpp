#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "study/job.hpp"
#include "study/parallel.hpp"

namespace tilerail::study {

/// Keys that take the same values, one after another.
struct SweepAxis {
  std::vector<std::string> keys;
  std::vector<std::string> values;  // "50 GB/s"
  std::vector<double> numbers =
      {};                  // the values if all are numbers of one unit; 16K is 16384
  std::string unit = {};   // of the numbers, if they have one: "GB/s"; "x" of factors
  std::string place = {};  // "vary 'TEXT'"

  /// The keys joined by " & ", and "_GB/s" if the values have a unit.
  std::string column() const;
};

/// "KEY=VALUES" or "KEY & KEY=VALUES". Names in keys may hold '=' and '&': the text is
/// parted where keys are known on both sides. Values are a list, "4K,8K" or, of values
/// that hold commas, "8K,8K,64;16K". In it, "25..1600 x2 GB/s" stands for 25, 50, ...
/// 1600 GB/s and "2..8 +2" for 2, 4, 6, 8: both ends included if a step meets them. Bare
/// numbers have the unit of the last value. Throws InputError at the text.
SweepAxis parse_axis(const std::string& text);

/// Every combination of the values of some axes; the last axis changes fastest.
struct Sweep {
  JobText base;
  std::vector<SweepAxis> axes;

  size_t points() const;
  size_t index(size_t point, size_t axis) const;  // of the value
  JobText job(size_t point) const { return job(point, axes.size()); }
  /// With the first `count` axes alone.
  JobText job(size_t point, size_t count) const;
};

/// The axes as parse_axis() reads them.
Sweep sweep_of(JobText base, const std::vector<std::string>& axes);

/// The machines that a sweep names, as they are, by their text in it.
using Machines = std::map<std::string, Topology>;

/// Reads the machines and tries the base, and every value once beside the first values of
/// the other axes. Throws InputError naming the place of the axis for a key or a value
/// that is wrong wherever it stands.
Machines check_sweep(const Sweep& sweep);

/// The machine of a job of the sweep.
Topology machine_of(const JobText& job, const Machines& machines);

/// Plans and simulates the points. A row for each that is completed, by ascending number
/// (docs/formats.md#sweep).
nlohmann::ordered_json run_sweep(const Sweep& sweep, const Machines& machines,
                                 const Workers& workers);

}  // namespace tilerail::study
