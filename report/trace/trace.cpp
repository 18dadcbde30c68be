#include "report/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/json.hpp"

namespace tilerail {
namespace {

int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// Rank of a queue on its device: kernels and copies within a memory, copies in, copies
/// out.
int rank(const AnnotatedQueue& queue) {
  return queue.src == queue.dst ? 0 : queue.dst == queue.device ? 1 : 2;
}

bool shown_before(const AnnotatedQueue& a, const AnnotatedQueue& b) {
  if (a.device != b.device) return natural_less(a.device, b.device);
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return natural_less(a.name, b.name);
}

/// Sorts the slices of a queue by time (they are in order of operations) and removes
/// their overlaps.
void lay_out(std::vector<Slice>& slices) {
  std::ranges::stable_sort(slices, {}, &Slice::begin_ns);
  int64_t free_at = 0;
  for (Slice& slice : slices) {
    slice.begin_ns = std::max(slice.begin_ns, free_at);
    slice.end_ns = std::max(slice.end_ns, slice.begin_ns);
    free_at = slice.end_ns;
  }
}

/// The title of a process: "predicted: gemm m=..., gemmex on two-gpu (sim)".
std::string trace_title(const NamedTimeline& named) {
  const TimelineMetadata& metadata = named.timeline->metadata;
  return fmt::format("{}: {}, {} on {} ({})", named.name, metadata.problem,
                     metadata.policy, metadata.machine, metadata.backend);
}

/// "gemm C[0:2048,0:2048]", or only the kind if the region is unknown.
std::string slice_name(const AnnotatedTimeline& timeline, const AnnotatedOp& op) {
  const std::string& label = timeline.label_of(op);
  return label.empty() ? std::string{to_string(op.kind)}
                       : fmt::format("{} {}", to_string(op.kind), label);
}

double microseconds(int64_t ns) { return double(ns) / 1e3; }

class Writer {
 public:
  std::string finish() && {
    return std::move(json_) + "\n],\n\"displayTimeUnit\":\"ns\"}\n";
  }

  void process(size_t pid, const NamedTimeline& named) {
    add_metadata("process", pid, 0, trace_title(named));
    const std::vector<Track> tracks = tracks_of(*named.timeline);
    for (const auto i : indices(tracks)) thread(pid, i + 1, *named.timeline, tracks[i]);
  }

 private:
  void thread(size_t pid, size_t tid, const AnnotatedTimeline& timeline,
              const Track& track) {
    add_metadata("thread", pid, tid, timeline.queues[track.queue].name);
    for (const Slice& slice : track.slices) {
      const AnnotatedOp& op = timeline.ops[slice.op];
      add({{"ph", "X"},
           {"pid", pid},
           {"tid", tid},
           {"ts", microseconds(slice.begin_ns)},
           {"dur", microseconds(slice.end_ns - slice.begin_ns)},
           {"name", slice_name(timeline, op)},
           {"cat", to_string(op.kind)},
           {"args",
            {{"op", slice.op},
             {"bytes", op.bytes},
             {"flops", op.flops},
             {"label", timeline.label_of(op)},
             {"ready_us", microseconds(nanoseconds(op.ready))}}}});
    }
  }

  /// The name of a process or a thread, and its position in the display.
  void add_metadata(const std::string& of, size_t pid, size_t tid,
                    const std::string& name) {
    const size_t place = tid > 0 ? tid : pid;
    add({{"ph", "M"},
         {"pid", pid},
         {"tid", tid},
         {"name", of + "_name"},
         {"args", {{"name", name}}}});
    add({{"ph", "M"},
         {"pid", pid},
         {"tid", tid},
         {"name", of + "_sort_index"},
         {"args", {{"sort_index", place}}}});
  }

  void add(const Json& event) {
    json_ += json_.ends_with('[') ? "\n" : ",\n";
    json_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string json_ = "{\"traceEvents\":[";
};

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  return strverscmp(a.c_str(), b.c_str()) < 0;
}

std::vector<Track> tracks_of(const AnnotatedTimeline& timeline) {
  std::vector<Track> tracks(timeline.queues.size());
  for (const auto i : indices(tracks)) tracks[i].queue = uint32_t(i);
  for (const auto i : indices(timeline.ops)) {
    const AnnotatedOp& op = timeline.ops[i];
    tracks[op.queue].slices.push_back(
        {uint32_t(i), nanoseconds(op.start), nanoseconds(op.end)});
  }
  for (Track& track : tracks) lay_out(track.slices);
  std::ranges::sort(tracks, [&](const Track& a, const Track& b) {
    return shown_before(timeline.queues[a.queue], timeline.queues[b.queue]);
  });
  return tracks;
}

std::string to_chrome_json(std::span<const NamedTimeline> timelines) {
  Writer writer;
  for (const auto i : indices(timelines)) writer.process(i + 1, timelines[i]);
  return std::move(writer).finish();
}

}  // namespace tilerail
