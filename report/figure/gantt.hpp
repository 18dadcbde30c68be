#pragma once

#include <span>
#include <string>

#include "report/trace/trace.hpp"

namespace tilerail {

/// An SVG file: operations over time, with a row for each queue under its device; above
/// 56 queues, a row for all queues of one direction on a device. Several timelines of one
/// problem share a time axis, one below the other; the first is compared with the second.
/// Adjacent bars of less than two pixels are merged, so the size is bounded by the number
/// of rows. Equal timelines give equal bytes.
std::string gantt_svg(std::span<const NamedTimeline> timelines);

}  // namespace tilerail
