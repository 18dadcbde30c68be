#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "study/job.hpp"
#include "study/runner.hpp"
#include "study/sweep/sweep_axis.hpp"

namespace tilerail::study {

/// Every combination of the values of some axes; the last axis changes fastest.
struct Sweep {
  JobText base;
  std::vector<SweepAxis> axes;
  std::map<std::string, std::string> base_places = {};  // of keys in a file, as of axes; that of "" is the base's own
  std::string backend = fluid_backend;                  // or host, cuda: simulated, and run as well
  RunSettings run = {};

  bool is_measured() const { return !is_simulation(backend); }

  size_t points() const;
  JobText job(size_t point) const { return job(point, axes.size()); }
  /// With the first `count` axes alone.
  JobText job(size_t point, size_t count) const;
  const std::string& value(size_t point, size_t axis) const { return axes[axis].values.texts[index(point, axis)]; }
  size_t index(size_t point, size_t axis) const;  // of the value
};

constexpr int64_t most_points = 1000000;  // of a sweep

/// The machines that a sweep names, as they are, by their text in it.
using Machines = std::map<std::string, Topology>;

/// Reads the machines and tries the base, and every value once beside the first values of the other axes. Throws
/// InputError naming the place of the axis for a key or a value that is wrong wherever it stands, and for keys of which
/// one would silently replace another: a gemm that varies beside m, n or k; settings of the same figure of the machine,
/// unless the later is a factor or sets fewer figures, all of which the earlier sets.
Machines check_sweep(const Sweep& sweep);

/// The machine of a job of the sweep.
Topology machine_of(const JobText& job, const Machines& machines);

/// 16 hexadecimal digits over all that the results depend on: the sweep, its machines and the version of the program.
std::string hash_of(const Sweep& sweep, const Machines& machines, const std::string& version);

}  // namespace tilerail::study
