#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "study/parallel.hpp"
#include "study/sweep/sweep.hpp"
#include "study/sweep/sweep_point.hpp"

namespace tilerail::study {

/// Points number - 1, number - 1 + of, ...: neighbours, which take about as long, go to different parts.
struct SweepPart {
  size_t number = 1, of = 1;
};

/// "3/8". Throws InputError.
SweepPart parse_part(const std::string& text);

struct SweepRun {
  std::string header;                             // of its CSV, also where there is no row
  size_t points = 0;                              // of the part
  std::map<size_t, nlohmann::ordered_json> rows;  // of the completed points; failed ones are included
  size_t failed = 0;                              // points
};

/// Plans and simulates the points of the part, and runs them if the sweep says so. Throws HardwareError if the hardware
/// of the sweep does not exist here.
SweepRun run_sweep(const Sweep& sweep, const Machines& machines, const SweepStamp& stamp, const SweepPart& part,
                   const Workers& workers);

/// A header and a line a point, by ascending number; the header alone of a part that has none.
std::string to_csv(const SweepRun& run);
std::string to_json(const SweepRun& run);

}  // namespace tilerail::study
