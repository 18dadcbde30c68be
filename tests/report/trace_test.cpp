#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/trace/chrome_json.hpp"
#include "report/trace/perfetto.hpp"
#include "report/trace/tracks.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::delayed;
using test::sample_timeline;

TEST(Tracks, NamesSortWithTheirNumbersAsNumbers) {
  std::vector<std::string> names = {"gpu10", "gpu2", "gpu2 #2", "gpu02", "host", "gpu1"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names, (std::vector<std::string>{"gpu1", "gpu02", "gpu2", "gpu2 #2", "gpu10", "host"}));
}

TEST(Tracks, ComeByDeviceWithKernelsThenCopiesInThenCopiesOut) {
  const AnnotatedTimeline timeline = sample_timeline();
  std::vector<std::string> names;
  for (const Track& track : tracks_of(timeline)) names.push_back(timeline.queues[track.queue].name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"gpu0 compute 0", "gpu0 compute 1", "host->gpu0", "gpu0->host", "gpu1 compute 0",
                                      "gpu0->gpu1", "host->gpu1", "host->gpu1 #2", "gpu1->host"}));
}

/// Measured clocks may let an operation begin a little before its queue predecessor ended.
TEST(Tracks, SlicesOfATrackDoNotOverlap) {
  AnnotatedTimeline timeline = sample_timeline();
  timeline.ops[1].start = 9e-3;  // op 0 of the same queue ended at 10 ms
  for (const Track& track : tracks_of(timeline)) {
    if (timeline.queues[track.queue].name != "host->gpu0") continue;
    ASSERT_EQ(track.slices.size(), 3u);
    EXPECT_EQ(track.slices[0].end_ns, 10'000'000);
    EXPECT_EQ(track.slices[1].begin_ns, 10'000'000);
    EXPECT_EQ(track.slices[1].end_ns, 20'000'000);
  }
}

TEST(ChromeJson, HasAProcessATimelineAThreadAQueueAndAnEventAnOperation) {
  const AnnotatedTimeline predicted = sample_timeline(), measured = delayed(predicted, 3, 10e-3);
  const std::vector<NamedTimeline> both = {{"predicted", &predicted}, {"measured", &measured}};
  const auto trace = nlohmann::json::parse(to_chrome_json(both));
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  std::size_t events = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") threads[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["ph"] != "X") continue;
    ++events;
    if (event["args"]["op"] != 3) continue;
    const std::string thread = threads[std::pair<int, int>{event["pid"], event["tid"]}];
    EXPECT_EQ(thread, "gpu0 compute 0");
    EXPECT_EQ(event["name"], "gemm C[0:100,0:100]");
    EXPECT_EQ(event["cat"], "gemm");
    EXPECT_EQ(event["ts"], 20'000.0);  // us
    EXPECT_EQ(event["dur"], event["pid"] == 1 ? 30'000.0 : 40'000.0);
    EXPECT_EQ(event["args"]["bytes"], 0);
    EXPECT_EQ(event["args"]["flops"], 2e6);
    EXPECT_EQ(event["args"]["label"], "C[0:100,0:100]");
    EXPECT_EQ(event["args"]["ready_us"], 20'000.0);
  }
  EXPECT_EQ(events, 24u);  // 12 operations, twice
  EXPECT_EQ(threads.size(), 18u);
  EXPECT_EQ(processes[1].substr(0, 10), "predicted:");
  EXPECT_EQ(processes[2].substr(0, 9), "measured:");
  EXPECT_THAT(processes[2], testing::HasSubstr("(host)"));
}

TEST(ChromeJson, TextThatIsNotUtf8IsReplaced) {
  AnnotatedTimeline timeline = sample_timeline();
  timeline.queues[0].name = "\xff\"";
  const std::vector<NamedTimeline> one = {{"predicted", &timeline}};
  EXPECT_TRUE(nlohmann::json::accept(to_chrome_json(one)));
}

/// A decoded protobuf message: for each field number its values, in order.
struct Message {
  std::multimap<std::uint32_t, std::uint64_t> numbers;  // varints and 64-bit values
  std::multimap<std::uint32_t, std::string> blocks;

  explicit Message(const std::string& bytes) {
    std::size_t at = 0;
    const auto byte = [&] { return static_cast<std::uint8_t>(bytes.at(at++)); };
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const std::uint8_t b = byte();
        value |= std::uint64_t{b & 0x7fu} << shift;
        if (b < 0x80) return value;
      }
    };
    while (at < bytes.size()) {
      const std::uint64_t tag = varint();
      const auto field = static_cast<std::uint32_t>(tag >> 3);
      if ((tag & 7) == 0) {
        numbers.emplace(field, varint());
      } else if ((tag & 7) == 1) {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value |= std::uint64_t{byte()} << (8 * i);
        numbers.emplace(field, value);
      } else if ((tag & 7) == 2) {
        const std::uint64_t length = varint();
        if (length > bytes.size() - at) throw std::runtime_error{"a block leads past the end"};
        blocks.emplace(field, bytes.substr(at, length));
        at += length;
      } else {
        throw std::runtime_error{"unknown wire type"};
      }
    }
  }

  bool has(std::uint32_t field) const { return numbers.contains(field) || blocks.contains(field); }
  std::uint64_t number(std::uint32_t field) const { return numbers.find(field)->second; }
  std::string text(std::uint32_t field) const { return blocks.find(field)->second; }
  Message message(std::uint32_t field) const { return Message{text(field)}; }
};

struct DecodedSlice {
  std::uint64_t track = 0, begin = 0, end = 0;
  std::string name, category;
  std::map<std::string, double> args;
};

/// What a viewer makes of a trace: the tracks by uuid and their slices.
struct DecodedTrace {
  std::map<std::uint64_t, Message> tracks;
  std::vector<DecodedSlice> slices;

  explicit DecodedTrace(const std::string& bytes) {
    const Message trace{bytes};
    bool first = true;
    for (const auto& [field, packet_bytes] : trace.blocks) {
      EXPECT_EQ(field, 1u);
      const Message packet{packet_bytes};
      EXPECT_EQ(packet.number(10), 1u);               // one sequence
      EXPECT_EQ(packet.number(13), first ? 3u : 2u);  // the state is cleared once, then needed
      first = false;
      if (packet.has(12)) read_interned(packet.message(12));
      if (packet.has(60)) {
        const Message track = packet.message(60);
        tracks.emplace(track.number(1), track);
      }
      if (packet.has(11)) read_event(packet.number(8), packet.message(11));
    }
    EXPECT_TRUE(open_.empty());
  }

 private:
  void read_interned(const Message& interned) {
    for (const auto& [table, bytes] : interned.blocks) {
      const Message entry{bytes};
      EXPECT_TRUE(interned_.emplace(std::pair{table, entry.number(1)}, entry.text(2)).second);
    }
  }

  void read_event(std::uint64_t time, const Message& event) {
    const std::uint64_t track = event.number(11);
    EXPECT_TRUE(tracks.contains(track));
    if (event.number(9) == 2) {
      slices.at(open_.at(track)).end = time;
      open_.erase(track);
      return;
    }
    EXPECT_EQ(event.number(9), 1u);
    DecodedSlice slice{track, time, 0, interned_.at({2, event.number(10)}), interned_.at({1, event.number(3)}), {}};
    const auto [begin, end] = event.blocks.equal_range(4);
    for (auto it = begin; it != end; ++it) {
      const Message annotation{it->second};
      slice.args[interned_.at({3, annotation.number(1)})] =
          annotation.has(5) ? std::bit_cast<double>(annotation.number(5)) : static_cast<double>(annotation.number(3));
    }
    EXPECT_TRUE(open_.emplace(track, slices.size()).second) << "slices overlap";
    slices.push_back(slice);
  }

  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> interned_;
  std::map<std::uint64_t, std::size_t> open_;  // slice that is open on a track
};

TEST(Pftrace, HasAProcessATimelineATrackAQueueAndASliceAnOperation) {
  const AnnotatedTimeline predicted = sample_timeline(), measured = delayed(predicted, 3, 10e-3);
  const std::vector<NamedTimeline> both = {{"predicted", &predicted}, {"measured", &measured}};
  const DecodedTrace trace{to_pftrace(both)};

  std::map<std::uint64_t, std::string> processes;              // by uuid
  std::map<std::uint64_t, std::vector<std::string>> children;  // names in the order of their ranks
  for (const auto& [uuid, track] : trace.tracks) {
    if (track.has(3)) {
      processes[uuid] = track.message(3).text(6);
      EXPECT_EQ(track.number(11), 3u);  // children in explicit order
      continue;
    }
    EXPECT_EQ(track.number(12), children[track.number(5)].size());
    children[track.number(5)].push_back(track.text(2));
  }
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes.begin()->second, trace_title(both[0]));
  EXPECT_EQ(processes.rbegin()->second, trace_title(both[1]));
  ASSERT_EQ(children.size(), 2u);
  for (const auto& [uuid, names] : children) {
    EXPECT_TRUE(processes.contains(uuid));
    ASSERT_EQ(names.size(), 9u);
    EXPECT_EQ(names[2], "host->gpu0");
  }

  ASSERT_EQ(trace.slices.size(), 24u);
  int products = 0;
  for (const DecodedSlice& slice : trace.slices) {
    if (slice.args.at("op") != 3) continue;
    const bool is_predicted = trace.tracks.at(slice.track).number(5) == processes.begin()->first;
    EXPECT_EQ(trace.tracks.at(slice.track).text(2), "gpu0 compute 0");
    EXPECT_EQ(slice.name, "gemm C[0:100,0:100]");
    EXPECT_EQ(slice.category, "gemm");
    EXPECT_EQ(slice.begin, 20'000'000u);
    EXPECT_EQ(slice.end, is_predicted ? 50'000'000u : 60'000'000u);
    EXPECT_EQ(slice.args.at("flops"), 2e6);
    EXPECT_EQ(slice.args.at("bytes"), 0);
    EXPECT_DOUBLE_EQ(slice.args.at("ready_s"), 20e-3);
    ++products;
  }
  EXPECT_EQ(products, 2);
}

TEST(Pftrace, OfNoTimelinesHoldsNoTracks) {
  const DecodedTrace trace{to_pftrace({})};
  EXPECT_TRUE(trace.tracks.empty());
  EXPECT_TRUE(trace.slices.empty());
}

}  // namespace
}  // namespace tilerail
