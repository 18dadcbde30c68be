#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <sstream>

#include "report/figure/gantt.hpp"
#include "report/figure/line_chart.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Not;

using Element = boost::property_tree::ptree;

/// The elements of this tag in a figure. Fails if it is not XML.
std::vector<Element> elements(const std::string& svg, const std::string& tag) {
  std::istringstream text{svg};
  Element tree;
  boost::property_tree::read_xml(text, tree);
  std::vector<Element> found;
  for (const auto& [name, element] : tree.get_child("svg"))
    if (name == tag) found.push_back(element);
  return found;
}

double number(const Element& element, const std::string& attribute) {
  return element.get<double>("<xmlattr>." + attribute);
}

std::vector<std::string> texts(const std::string& svg) {
  std::vector<std::string> found;
  for (const Element& element : elements(svg, "text")) found.push_back(element.data());
  return found;
}

/// The bars of operations, which have a height of their own.
std::vector<Element> bars(const std::string& svg) {
  std::vector<Element> found = elements(svg, "rect");
  std::erase_if(found, [](const Element& rect) { return number(rect, "height") != 13; });
  return found;
}

std::string gantt(const AnnotatedTimeline& timeline) {
  const NamedTimeline named{"one", &timeline};
  return gantt_svg({&named, 1});
}

/// A queue of copies, one after another, without pauses.
AnnotatedTimeline many_copies(size_t ops) {
  AnnotatedTimeline timeline = test::sample_timeline();
  timeline.ops.assign(ops, timeline.ops[0]);
  for (size_t i = 0; i < ops; ++i)
    timeline.ops[i].start = double(i) * 1e-6, timeline.ops[i].end = double(i + 1) * 1e-6;
  return timeline;
}

TEST(Gantt, HasABarForEachOperationButJoins) {
  const AnnotatedTimeline timeline = test::sample_timeline();
  EXPECT_EQ(bars(gantt(timeline)).size(), timeline.ops.size() - 1);
}

/// Op 3, 30 ms, is the longest: its bar is a third of the axis of 90 ms.
TEST(Gantt, BarsAreWhereTheirOperationsWere) {
  const std::string svg = gantt(test::sample_timeline());
  const auto of_colour = [&](const std::string& colour) {
    auto found = bars(svg);
    std::erase_if(found, [&](const Element& rect) {
      return rect.get<std::string>("<xmlattr>.fill") != colour;
    });
    return found;
  };
  const auto gemms = of_colour("#e07b39");
  ASSERT_EQ(gemms.size(), 2u);  // 20 to 50, and 45 to 70 ms
  const double ms = (number(gemms[1], "x") - number(gemms[0], "x")) / 25;
  EXPECT_NEAR(number(gemms[0], "width"), 30 * ms, 1);
  EXPECT_NEAR(number(gemms[1], "width"), 25 * ms, 1);
  EXPECT_EQ(of_colour("#2f6db5").size(), 5u);  // from the host
  EXPECT_EQ(of_colour("#3a9d7c").size(), 2u);  // to the host
  EXPECT_EQ(of_colour("#8a63b0").size(), 1u);
}

TEST(Gantt, NamesRowsDevicesCategoriesAndTheRun) {
  EXPECT_THAT(
      texts(gantt(test::sample_timeline())),
      AllOf(Contains("compute 1"), Contains("host->gpu1 #2"), Contains("gpu1"),
            Contains("AXPBY"), Contains("copy from a host"), Contains("time (ms)"),
            Contains(HasSubstr("90.00 ms")), Not(Contains("-0"))));
}

TEST(Gantt, LettersHaveAtLeastEightPoints) {
  for (const Element& text : elements(gantt(test::sample_timeline()), "text"))
    EXPECT_GE(number(text, "font-size"), 8 * 96.0 / 72);
}

TEST(Gantt, TextsAreEscaped) {
  AnnotatedTimeline timeline = test::sample_timeline();
  timeline.metadata.problem = "a < b && c > \"d\" \xff";
  for (AnnotatedQueue& queue : timeline.queues) queue.device = "<gpu>";
  EXPECT_THAT(texts(gantt(timeline)),
              AllOf(Contains("a < b && c > \"d\" \\xff"), Contains("<gpu>")));
}

TEST(Gantt, EqualTimelinesGiveEqualBytes) {
  EXPECT_EQ(gantt(test::sample_timeline()), gantt(test::sample_timeline()));
}

TEST(Gantt, ThinNeighboursAreMergedAndWideOnesAreNot) {
  EXPECT_EQ(bars(gantt(many_copies(100))).size(), 100u);
  EXPECT_EQ(bars(gantt(many_copies(100'000))).size(), 1u);
  EXPECT_LT(gantt(many_copies(100'000)).size(), 4000u);
}

TEST(Gantt, APauseOfAPixelStays) {
  AnnotatedTimeline timeline = many_copies(100'000);
  for (size_t i = 50'000; i < timeline.ops.size(); ++i)
    timeline.ops[i].start += 1e-3, timeline.ops[i].end += 1e-3;
  EXPECT_EQ(bars(gantt(timeline)).size(), 2u);
}

TEST(Gantt, ManyQueuesOfADeviceShareARowForEachDirection) {
  AnnotatedTimeline timeline = test::sample_timeline();
  const size_t kinds = timeline.queues.size();
  for (size_t i = 0; i < 60; ++i) {
    timeline.queues.push_back(timeline.queues[i % kinds]);
    timeline.queues.back().name += " #" + std::to_string(i + 9);
  }
  const auto shown = texts(gantt(timeline));
  EXPECT_EQ(std::ranges::count(shown, "kernels"), 2);  // of two GPUs
  EXPECT_THAT(shown, Not(Contains("compute 0")));
}

TEST(Gantt, APredictionIsAboveAMeasurementOnOneAxis) {
  const AnnotatedTimeline predicted = test::sample_timeline(),
                          measured = test::delayed(predicted, 10, 10e-3);
  const NamedTimeline both[] = {{"predicted", &predicted}, {"measured", &measured}};
  const std::string svg = gantt_svg(both);
  EXPECT_EQ(bars(svg).size(), 2 * (predicted.ops.size() - 1));
  EXPECT_EQ(number(bars(svg)[0], "x"), number(bars(svg)[predicted.ops.size() - 1], "x"));
  EXPECT_THAT(texts(svg),
              AllOf(Contains(AllOf(HasSubstr("predicted: "), HasSubstr("90.00 ms"),
                                   HasSubstr("-10.0%"))),
                    Contains(HasSubstr("measured: "))));
}

TEST(Gantt, WithoutOperationsThereAreNoBars) {
  AnnotatedTimeline timeline = test::sample_timeline();
  timeline.ops.clear(), timeline.queues.clear();
  EXPECT_EQ(bars(gantt(timeline)).size(), 0u);
}

LineChart chart_of(std::vector<Point> points) {
  return {"title", "x", "y", {}, {{"line", points, points}}};
}

std::vector<double> marks(const LineChart& chart, const std::string& axis) {
  std::vector<double> found;
  for (const Element& circle : elements(to_svg(chart), "circle"))
    found.push_back(number(circle, axis));
  return found;
}

TEST(LineChart, MarksHaveTheDistancesOfTheirValues) {
  const auto x = marks(chart_of({{1, 3}, {2, 4}, {4, 6}}), "cx"),
             y = marks(chart_of({{1, 3}, {2, 4}, {4, 6}}), "cy");
  EXPECT_NEAR(x[2] - x[1], 2 * (x[1] - x[0]), 0.02);
  EXPECT_NEAR(y[1] - y[2], 2 * (y[0] - y[1]), 0.02);
}

TEST(LineChart, AxesOfWideRangesAreLogarithmic) {
  const auto x = marks(chart_of({{1, 1}, {4, 10}, {16, 100}}), "cx"),
             y = marks(chart_of({{1, 1}, {4, 10}, {16, 100}}), "cy");
  EXPECT_NEAR(x[2] - x[1], x[1] - x[0], 0.02);
  EXPECT_NEAR(y[1] - y[2], y[0] - y[1], 0.02);
}

TEST(LineChart, NamesLinesAxesAndValues) {
  LineChart chart = chart_of({{0, 1}, {1, 2}});
  chart.names = {"a<b", "c&d"};
  chart.lines.push_back({"other", {{0, 2}, {1, 3}}, {}});
  const std::string svg = to_svg(chart);
  EXPECT_THAT(texts(svg), AllOf(Contains("title"), Contains("x"), Contains("y"),
                                Contains("a<b"), Contains("c&d"), Contains("line"),
                                Contains("other"), Contains("bound")));
  EXPECT_EQ(svg, to_svg(chart));
}

TEST(LineChart, OnePointIsEnough) {
  for (const double x : marks(chart_of({{0, 0}}), "cx")) EXPECT_TRUE(std::isfinite(x));
}

TEST(Scale, TicksAreRoundAndWithinTheAxis) {
  EXPECT_THAT((Scale{0, 4}.ticks()), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4));
  EXPECT_THAT((Scale{7, 26}.ticks()), ElementsAre(8, 10, 12, 14, 16, 18, 20, 22, 24, 26));
  const Scale decades{3, 4000, 0, 1, true};
  EXPECT_THAT(decades.ticks(), Each(AllOf(Ge(3), ::testing::Le(4000))));
  EXPECT_THAT(decades.ticks(), AllOf(Contains(10), Contains(1000)));
}

}  // namespace
}  // namespace tilerail
