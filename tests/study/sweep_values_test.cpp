// Values of sweep keys: lists, ranges, units.
#include "study/sweep/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SweepAxis values(const std::string& text) { return parse_axis("tile=" + text); }

TEST(SweepValues, ARangeByFactors) {
  const SweepAxis rates = values("25..1600 x2 GB/s");
  EXPECT_THAT(rates.values, ElementsAre("25 GB/s", "50 GB/s", "100 GB/s", "200 GB/s",
                                        "400 GB/s", "800 GB/s", "1600 GB/s"));
  EXPECT_THAT(rates.numbers, ElementsAre(25, 50, 100, 200, 400, 800, 1600));
  EXPECT_EQ(rates.unit, "GB/s");
  EXPECT_EQ(values("25 GB/s..100 GB/s x2").values.size(), 3u);
}

TEST(SweepValues, ARangeBySteps) {
  EXPECT_THAT(values("2..8 +2").values, ElementsAre("2", "4", "6", "8"));
  EXPECT_THAT(values("512..1.5K +512").values, ElementsAre("512", "1024", "1536"));
  EXPECT_THAT(values("0.1..0.3 +0.1 us").numbers,
              ElementsAre(::testing::DoubleEq(0.1), ::testing::DoubleEq(0.2),
                          ::testing::DoubleNear(0.3, 1e-12)));
  EXPECT_THAT(values("3..10 +4").values, ElementsAre("3", "7"));
}

TEST(SweepValues, SizesAreWrittenWithAllDigits) {
  EXPECT_THAT(values("1000000,1M").numbers, ElementsAre(1000000, 1048576));
  EXPECT_THAT(values("4K..16K x2").values, ElementsAre("4096", "8192", "16384"));
}

TEST(SweepValues, APrefixBelongsToItsUnit) {
  EXPECT_THAT(values("400MB/s,800 MB/s").values, ElementsAre("400MB/s", "800 MB/s"));
}

TEST(SweepValues, BareNumbersGetTheLastUnit) {
  EXPECT_THAT(values("25,50,100 GB/s").values,
              ElementsAre("25 GB/s", "50 GB/s", "100 GB/s"));
  EXPECT_THAT(values("25 GB/s,50 us").values, ElementsAre("25 GB/s", "50 us"));
  EXPECT_THAT(values("25 GB/s,50 us").numbers, IsEmpty());
}

TEST(SweepValues, SeparatorsWithinParenthesesAreIgnored) {
  EXPECT_THAT(values("off,tree(chunks=4,min-bytes=0)").values,
              ElementsAre("off", "tree(chunks=4,min-bytes=0)"));
  EXPECT_THAT(values("tree(chunks=4,min-bytes=0);off").values,
              ElementsAre("tree(chunks=4,min-bytes=0)", "off"));
}

TEST(SweepValues, FactorsAreNumbers) {
  const SweepAxis factors = values("x0.5,x1,x2");
  EXPECT_THAT(factors.values, ElementsAre("x0.5", "x1", "x2"));
  EXPECT_THAT(factors.numbers, ElementsAre(0.5, 1, 2));
  EXPECT_EQ(factors.unit, "x");
  EXPECT_THAT(values("x1..x8 x2").values, ElementsAre("x1", "x2", "x4", "x8"));
}

TEST(SweepValues, NamesAreNotNumbers) {
  for (const char* text :
       {"f64,bf16", "auto,1024", "h:h:h", "inf,x2", "../machine.toml,clx-ai"})
    EXPECT_THAT(values(text).numbers, IsEmpty()) << text;
  EXPECT_THAT(values("../a.toml").values, ElementsAre("../a.toml"));
}

TEST(SweepValues, NumbersBeyondAllRangesAreTexts) {
  for (const char* text : {"1e400", "1e-400", "1,1e400"})
    EXPECT_THAT(values(text).numbers, IsEmpty()) << text;
}

TEST(SweepValues, TextsStayUnchanged) {
  EXPECT_THAT(values("1e2, 4K").values, ElementsAre("1e2", "4K"));
}

TEST(SweepValues, SemicolonsSeparateValuesWithCommas) {
  EXPECT_THAT(values("8K,8K,64; 16K").values, ElementsAre("8K,8K,64", "16K"));
}

TEST(SweepValues, LongTextsAreNames) {
  const std::string digits(100000, '1');
  EXPECT_THAT(values(digits).numbers, IsEmpty());
  EXPECT_THAT(values(digits + ".." + digits + " x2").numbers, IsEmpty());
}

TEST(SweepValues, RangesHaveAStepOfTheirUnit) {
  for (const char* text : {"1..8", "25 GB/s..100 GB/s x2 MB/s", "x1..x8 x2 GB/s",
                           "1..8 -1", "1 GB/s..8 us x2"})
    expect_input_error([&] { values(text); }, {"is not a range with a step"});
}

TEST(SweepValues, InvalidValuesAreRefused) {
  for (const auto& [text, quoted] : {std::pair{"", "'' is not a value"},
                                     {"1,,2", "'' is not a value"},
                                     {"8..1 x2", "does not ascend"},
                                     {"1..8 x1", "does not ascend"},
                                     {"0..8 x2", "does not ascend"},
                                     {"1..8 +0", "does not ascend"},
                                     {"1..1e9 +1", "at most 10000"}})
    expect_input_error([&t = text] { values(t); }, {quoted});
}

}  // namespace
}  // namespace tilerail::study
