#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "study/sweep/sweep.hpp"

namespace tilerail::study {

/// What every row of a sweep says.
struct SweepStamp {
  std::string hash, version;
};

/// The cells of a point's row, in the order of the columns (docs/formats.md#sweep), all there and those of results
/// null; `error` says why it has none.
nlohmann::ordered_json empty_cells(const Sweep& sweep, const SweepStamp& stamp, size_t point, const std::string& error);

/// Plans and simulates the point and, where the sweep says so, runs it. Throws InputError, HardwareError and
/// ExecutionError.
nlohmann::ordered_json cells_of(const Sweep& sweep, const Machines& machines, const SweepStamp& stamp, size_t point);

}  // namespace tilerail::study
