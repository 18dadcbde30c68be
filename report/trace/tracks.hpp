#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/timeline/annotate.hpp"

namespace tilerail {

/// A timeline as a trace shows it: one process.
struct NamedTimeline {
  std::string name;  // "predicted", "measured", or what else tells it from the other
  const AnnotatedTimeline* timeline = nullptr;
};

/// The title of its process: "predicted: gemm m=..., gemmex on two-gpu (sim)".
std::string trace_title(const NamedTimeline& named);

/// One operation on a track; whole nanoseconds.
struct Slice {
  uint32_t op = 0;  // OpId
  int64_t begin_ns = 0, end_ns = 0;
};

/// The operations of one queue in order of time. Slices do not overlap: where measured times do, within the error of
/// their clocks, the later slice begins at the end of the earlier one.
struct Track {
  uint32_t queue = 0;  // index into AnnotatedTimeline::queues
  std::vector<Slice> slices;
};

/// The tracks in display order: by device, for each its kernels, then copies to it, then copies from it. Numbers in
/// names are compared as numbers.
std::vector<Track> tracks_of(const AnnotatedTimeline& timeline);

/// "gemm C[0:2048,0:2048]", or the kind alone where the region is not known.
std::string slice_name(const AnnotatedTimeline& timeline, const AnnotatedOp& op);

/// Rounded to whole nanoseconds.
int64_t nanoseconds(double seconds);

/// Compares names with their runs of digits taken as numbers: "gpu2" before "gpu10".
bool natural_less(const std::string& a, const std::string& b);

}  // namespace tilerail
