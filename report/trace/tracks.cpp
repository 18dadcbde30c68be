#include "report/trace/tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// Rank of a queue on its device: kernels and copies within a memory, then copies in, then copies out.
int rank(const AnnotatedQueue& queue) { return queue.src == queue.dst ? 0 : queue.dst == queue.device ? 1 : 2; }

bool shown_before(const AnnotatedQueue& a, const AnnotatedQueue& b) {
  if (a.device != b.device) return natural_less(a.device, b.device);
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return natural_less(a.name, b.name);
}

/// Sorts the slices by time and removes their overlaps.
void lay_out(std::vector<Slice>& slices) {
  const auto earlier = [](const Slice& a, const Slice& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.op < b.op;
  };
  if (!std::ranges::is_sorted(slices, earlier)) std::ranges::sort(slices, earlier);
  int64_t free_at = 0;
  for (Slice& slice : slices) {
    slice.begin_ns = std::max(slice.begin_ns, free_at);
    slice.end_ns = std::max(slice.end_ns, slice.begin_ns);
    free_at = slice.end_ns;
  }
}

}  // namespace

int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

bool natural_less(const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) < 0; }

std::string trace_title(const NamedTimeline& named) {
  const TimelineMetadata& metadata = named.timeline->metadata;
  return fmt::format("{}: {}, {} on {} ({})", named.name, metadata.problem, metadata.policy, metadata.machine,
                     metadata.backend);
}

std::string slice_name(const AnnotatedTimeline& timeline, const AnnotatedOp& op) {
  const std::string& label = timeline.label_of(op);
  return label.empty() ? std::string{to_string(op.kind)} : fmt::format("{} {}", to_string(op.kind), label);
}

std::vector<Track> tracks_of(const AnnotatedTimeline& timeline) {
  std::vector<Track> tracks(timeline.queues.size());
  for (const auto i : indices(tracks)) tracks[i].queue = uint32_t(i);
  for (const auto i : indices(timeline.ops)) {
    const AnnotatedOp& op = timeline.ops[i];
    tracks[op.queue].slices.push_back({uint32_t(i), nanoseconds(op.start), nanoseconds(op.end)});
  }
  for (Track& track : tracks) lay_out(track.slices);
  std::ranges::sort(tracks, [&](const Track& a, const Track& b) {
    return shown_before(timeline.queues[a.queue], timeline.queues[b.queue]);
  });
  return tracks;
}

}  // namespace tilerail
