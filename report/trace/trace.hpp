#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// A timeline as one process of a trace.
struct NamedTimeline {
  std::string name;  // "predicted", "measured", or another distinctive name
  const AnnotatedTimeline* timeline = nullptr;
};

/// An operation on a track; whole nanoseconds.
struct Slice {
  uint32_t op = 0;  // OpId
  int64_t begin_ns = 0, end_ns = 0;
};

/// The operations of one queue by time. Slices do not overlap: if measured times do,
/// within clock error, the later slice begins at the end of the earlier one.
struct Track {
  uint32_t queue = 0;  // index into AnnotatedTimeline::queues
  std::vector<Slice> slices;
};

/// The tracks in display order: by device, then kernels, copies in, copies out. Numbers
/// in names are compared as numbers.
std::vector<Track> tracks_of(const AnnotatedTimeline& timeline);

/// Trace in the Chrome JSON format for the Perfetto UI and chrome://tracing: a process
/// per timeline, a thread per queue, a complete event ("X") per operation with its
/// number, bytes, flops and region. Times are in microseconds. Invalid UTF-8 is replaced.
std::string to_chrome_json(std::span<const NamedTimeline> timelines);

/// Compares names with runs of digits as numbers: "gpu2" before "gpu10".
bool natural_less(const std::string& a, const std::string& b);

}  // namespace tilerail
