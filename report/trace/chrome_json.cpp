#include "report/trace/chrome_json.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace tilerail {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with the nanoseconds behind the point: 1234 -> "1.234".
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

class Writer {
 public:
  std::string finish() && { return std::move(json_) + "\n],\n\"displayTimeUnit\":\"ns\"}\n"; }

  void process(std::size_t pid, const NamedTimeline& named) {
    labels_.clear();
    for (std::uint32_t i = 0; i < named.timeline->labels.size(); ++i)
      labels_.push_back(quoted(named.timeline->labels[i]));
    metadata("process_name", pid, 0, "name", quoted(trace_title(named)));
    metadata("process_sort_index", pid, 0, "sort_index", std::to_string(pid));
    const std::vector<Track> tracks = tracks_of(*named.timeline);
    for (std::size_t i = 0; i < tracks.size(); ++i) thread(pid, i + 1, *named.timeline, tracks[i]);
  }

 private:
  void thread(std::size_t pid, std::size_t tid, const AnnotatedTimeline& timeline, const Track& track) {
    metadata("thread_name", pid, tid, "name", quoted(timeline.queues[track.queue].name));
    metadata("thread_sort_index", pid, tid, "sort_index", std::to_string(tid));
    for (const Slice& slice : track.slices) {
      const AnnotatedOp& op = timeline.ops[slice.op];
      separate();
      fmt::format_to(std::back_inserter(json_),
                     R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}",)"
                     R"("args":{{"op":{},"bytes":{},"flops":{},"label":{},"ready_us":{}}}}})",
                     pid, tid, microseconds(slice.begin_ns), microseconds(slice.end_ns - slice.begin_ns), name_of(op),
                     to_string(op.kind), slice.op, op.bytes, op.flops, labels_[op.label],
                     microseconds(nanoseconds(op.ready)));
    }
  }

  /// slice_name, quoted, from the quoted label.
  std::string name_of(const AnnotatedOp& op) const {
    const std::string& label = labels_[op.label];
    return fmt::format("\"{}{}{}", to_string(op.kind), label.size() > 2 ? " " : "", std::string_view{label}.substr(1));
  }

  void metadata(const char* name, std::size_t pid, std::size_t tid, const char* key, const std::string& value) {
    separate();
    fmt::format_to(std::back_inserter(json_), R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"{}":{}}}}})", pid,
                   tid, name, key, value);
  }

  void separate() {
    json_ += first_ ? "\n" : ",\n";
    first_ = false;
  }

  std::string json_ = "{\"traceEvents\":[";
  bool first_ = true;
  std::vector<std::string> labels_;  // of the current timeline, quoted
};

}  // namespace

std::string to_chrome_json(std::span<const NamedTimeline> timelines) {
  Writer writer;
  for (std::size_t i = 0; i < timelines.size(); ++i) writer.process(i + 1, timelines[i]);
  return std::move(writer).finish();
}

}  // namespace tilerail
