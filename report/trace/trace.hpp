#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// A timeline as a trace shows it: one process.
struct NamedTimeline {
  std::string name;  // "predicted", "measured", or what else tells it from the other
  const AnnotatedTimeline* timeline = nullptr;
};

/// One operation on a track; whole nanoseconds.
struct Slice {
  uint32_t op = 0;  // OpId
  int64_t begin_ns = 0, end_ns = 0;
};

/// The operations of one queue in order of time. Slices do not overlap: where measured
/// times do, within the error of their clocks, the later slice begins at the end of the
/// earlier one.
struct Track {
  uint32_t queue = 0;  // index into AnnotatedTimeline::queues
  std::vector<Slice> slices;
};

/// The tracks in display order: by device, for each its kernels, then copies to it, then
/// copies from it. Numbers in names are compared as numbers.
std::vector<Track> tracks_of(const AnnotatedTimeline& timeline);

/// Trace in the Chrome JSON format, which the Perfetto UI and chrome://tracing open: a
/// process for each timeline, a thread for each queue, a complete event ("X") for each
/// operation with its number, bytes, flops and region. Times are in microseconds. Text
/// that is not UTF-8 is replaced.
std::string to_chrome_json(std::span<const NamedTimeline> timelines);

/// Compares names with their runs of digits taken as numbers: "gpu2" before "gpu10".
bool natural_less(const std::string& a, const std::string& b);

}  // namespace tilerail
