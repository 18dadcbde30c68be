#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "study/parallel/processes.hpp"
#include "study/sweep/sweep.hpp"
#include "study/sweep/sweep_point.hpp"

namespace tilerail::study {

/// Points number - 1, number - 1 + of, ...: neighbours, which take about as long, go to different parts.
struct SweepPart {
  std::size_t number = 1, of = 1;
};

/// "3/8". Throws InputError "--part: ...".
SweepPart parse_part(const std::string& text);

struct SweepRun {
  std::string header;                                  // of its CSV, also where there is no row
  std::map<std::size_t, nlohmann::ordered_json> rows;  // of every point of the part, those that failed among them
  std::vector<std::size_t> failed;                     // points
  std::size_t resumed = 0;                             // that a journal had
};

class Journal;

/// What the journal of this part begins with.
std::string journal_header(const SweepStamp& stamp, const SweepPart& part);

/// Does the points that the journal has not; those that failed are tried again. `journal` may be null. Throws
/// InputError naming the line of a journal that is no row of this part, and HardwareError where points want hardware
/// that is not there: no point would do better.
SweepRun run_sweep(const Sweep& sweep, const Machines& machines, const SweepStamp& stamp, const SweepPart& part,
                   Journal* journal, const Processes& processes);

/// A header and a line a point, by ascending number; the header alone of a part that has none.
std::string to_csv(const SweepRun& run);
std::string to_json(const SweepRun& run);

}  // namespace tilerail::study
