#pragma once

#include <span>
#include <string>

#include "report/trace/tracks.hpp"

namespace tilerail {

/// Trace in the Chrome JSON format, which the Perfetto UI and chrome://tracing open: a process for each timeline, a
/// thread for each queue, a complete event ("X") for each operation with its number, bytes, flops and region.
/// Times are in microseconds. Text that is not UTF-8 is replaced.
std::string to_chrome_json(std::span<const NamedTimeline> timelines);

}  // namespace tilerail
