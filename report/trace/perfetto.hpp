#pragma once

#include <span>
#include <string>

#include "report/trace/tracks.hpp"

namespace tilerail {

/// Perfetto's own trace format (perfetto.trace.Trace, protobuf; a `.pftrace` file): a process for each timeline, below
/// it a track for each queue in display order, on it a slice for each operation with its number, bytes, flops and
/// ready time. Timestamps are nanoseconds of the default clock, from 0.
std::string to_pftrace(std::span<const NamedTimeline> timelines);

}  // namespace tilerail
