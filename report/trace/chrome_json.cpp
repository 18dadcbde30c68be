#include "report/trace/chrome_json.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(int64_t ns) { return double(ns) / 1e3; }

class Writer {
 public:
  std::string finish() && { return std::move(json_) + "\n],\n\"displayTimeUnit\":\"ns\"}\n"; }

  void process(size_t pid, const NamedTimeline& named) {
    add_metadata("process", pid, 0, trace_title(named));
    const std::vector<Track> tracks = tracks_of(*named.timeline);
    for (const auto i : indices(tracks)) thread(pid, i + 1, *named.timeline, tracks[i]);
  }

 private:
  void thread(size_t pid, size_t tid, const AnnotatedTimeline& timeline, const Track& track) {
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

  /// The name of a process or a thread, and its place in the display.
  void add_metadata(const std::string& of, size_t pid, size_t tid, const std::string& name) {
    const size_t place = tid > 0 ? tid : pid;
    add({{"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", of + "_name"}, {"args", {{"name", name}}}});
    add({{"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", of + "_sort_index"}, {"args", {{"sort_index", place}}}});
  }

  void add(const Json& event) {
    json_ += json_.ends_with('[') ? "\n" : ",\n";
    json_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string json_ = "{\"traceEvents\":[";
};

}  // namespace

std::string to_chrome_json(std::span<const NamedTimeline> timelines) {
  Writer writer;
  for (const auto i : indices(timelines)) writer.process(i + 1, timelines[i]);
  return std::move(writer).finish();
}

}  // namespace tilerail
