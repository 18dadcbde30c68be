#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/trace/trace.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::delayed;
using test::sample_timeline;

TEST(Tracks, NamesSortWithTheirNumbersAsNumbers) {
  std::vector<std::string> names = {"gpu10", "gpu2", "gpu2 #2", "host", "gpu1"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names,
            (std::vector<std::string>{"gpu1", "gpu2", "gpu2 #2", "gpu10", "host"}));
}

TEST(Tracks, ComeByDeviceWithKernelsThenCopiesInThenCopiesOut) {
  const AnnotatedTimeline timeline = sample_timeline();
  std::vector<std::string> names;
  for (const Track& track : tracks_of(timeline))
    names.push_back(timeline.queues[track.queue].name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"gpu0 compute 0", "gpu0 compute 1", "host->gpu0",
                                      "gpu0->host", "gpu1 compute 0", "gpu0->gpu1",
                                      "host->gpu1", "host->gpu1 #2", "gpu1->host"}));
}

/// In measured times, an operation may start slightly before the end of its queue
/// predecessor.
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

TEST(ChromeJson, HasAProcessPerTimelineAThreadPerQueueAndAnEventPerOperation) {
  const AnnotatedTimeline predicted = sample_timeline(),
                          measured = delayed(predicted, 3, 10e-3);
  const std::vector<NamedTimeline> both = {{"predicted", &predicted},
                                           {"measured", &measured}};
  const auto trace = nlohmann::json::parse(to_chrome_json(both));
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  size_t events = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name")
      threads[{event["pid"], event["tid"]}] = event["args"]["name"];
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
  EXPECT_THAT(processes[2], ::testing::HasSubstr("(host)"));
}

TEST(ChromeJson, TextThatIsNotUtf8IsReplaced) {
  AnnotatedTimeline timeline = sample_timeline();
  timeline.queues[0].name = "\xff\"";
  const std::vector<NamedTimeline> one = {{"predicted", &timeline}};
  EXPECT_TRUE(nlohmann::json::accept(to_chrome_json(one)));
}

}  // namespace
}  // namespace tilerail
