#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "study/job.hpp"
#include "study/runner.hpp"
#include "study/sweep/values.hpp"

namespace tilerail::study {

/// Keys that take the same values, one after another.
struct SweepAxis {
  std::vector<std::string> keys;
  SweepValues values;
  std::string place = {};  // "sweep.toml:7:1: " or "--vary TEXT: ", before errors

  /// The keys joined by " & ", and "_GB/s" where the values have a unit.
  std::string column() const;
};

/// "KEY=VALUES" or "KEY & KEY=VALUES". Throws InputError "--vary: ...".
SweepAxis parse_axis(const std::string& text);

/// Every combination of the values of some axes; the last axis changes fastest.
struct Sweep {
  JobText base;
  std::vector<SweepAxis> axes;
  std::string backend = "sim";  // or host, cuda: simulated, and run as well
  RunSettings run = {};

  std::size_t points() const;
  JobText job(std::size_t point) const;
  const std::string& value(std::size_t point, std::size_t axis) const {
    return axes[axis].values.texts[index(point, axis)];
  }
  std::size_t index(std::size_t point, std::size_t axis) const;  // of the value
};

/// The machines that a sweep names, as they are, by their text in it.
using Machines = std::map<std::string, Topology>;

/// Reads the machines and tries every value once, beside the first values of the other axes. Throws InputError naming
/// the place of the axis for a key or a value that is wrong wherever it stands.
Machines check_sweep(const Sweep& sweep);

/// The machine of a job of the sweep.
Topology machine_of(const JobText& job, const Machines& machines);

/// 16 hexadecimal digits over all that the results depend on: the sweep, its machines and the version of the program.
std::string hash_of(const Sweep& sweep, const Machines& machines, const std::string& version);

}  // namespace tilerail::study
