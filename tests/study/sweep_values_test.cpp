// What keys of a sweep take: lists, ranges, units.
#include "study/sweep/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

using ::testing::ElementsAre;

SweepValues values(const char* text) { return expand_values(items_in(text)); }

TEST(SweepValues, ARangeByFactors) {
  const SweepValues rates = values("25..1600 x2 GB/s");
  EXPECT_THAT(rates.texts,
              ElementsAre("25 GB/s", "50 GB/s", "100 GB/s", "200 GB/s", "400 GB/s", "800 GB/s", "1600 GB/s"));
  EXPECT_THAT(rates.numbers, ElementsAre(25, 50, 100, 200, 400, 800, 1600));
  EXPECT_EQ(rates.unit, "GB/s");
  EXPECT_EQ(values("25 GB/s..100 GB/s x2").texts.size(), 3u);
}

TEST(SweepValues, ARangeBySteps) {
  EXPECT_THAT(values("2..8 +2").texts, ElementsAre("2", "4", "6", "8"));
  EXPECT_THAT(values("512..1.5K +512").texts, ElementsAre("512", "1024", "1536"));
  EXPECT_THAT(values("0.1..0.3 +0.1 us").numbers,
              ElementsAre(::testing::DoubleEq(0.1), ::testing::DoubleEq(0.2), ::testing::DoubleNear(0.3, 1e-12)));
  EXPECT_THAT(values("3..10 +4").texts, ElementsAre("3", "7"));
}

TEST(SweepValues, SizesAreWrittenWithAllDigits) {
  EXPECT_THAT(values("1000000,1M").texts, ElementsAre("1000000", "1048576"));
  EXPECT_THAT(values("4K..16K x2").texts, ElementsAre("4096", "8192", "16384"));
}

TEST(SweepValues, ALetterBeforeAUnitBelongsToIt) {
  EXPECT_THAT(values("400MB/s,800 MB/s").texts, ElementsAre("400 MB/s", "800 MB/s"));
}

TEST(SweepValues, BareNumbersGetTheLastUnit) {
  EXPECT_THAT(values("25,50,100 GB/s").texts, ElementsAre("25 GB/s", "50 GB/s", "100 GB/s"));
  EXPECT_FALSE(values("25 GB/s,50 us").numeric());
}

TEST(SweepValues, NothingSeparatesWithinParentheses) {
  EXPECT_EQ(items_in("off,tree(chunks=4,min-bytes=0)"),
            (std::vector<std::string>{"off", "tree(chunks=4,min-bytes=0)"}));
  EXPECT_EQ(items_in("tree(chunks=4,min-bytes=0);off"),
            (std::vector<std::string>{"tree(chunks=4,min-bytes=0)", "off"}));
}

TEST(SweepValues, FactorsAreNumbers) {
  const SweepValues factors = values("x0.5,x1,x2");
  EXPECT_THAT(factors.texts, ElementsAre("x0.5", "x1", "x2"));
  EXPECT_THAT(factors.numbers, ElementsAre(0.5, 1, 2));
  EXPECT_EQ(factors.unit, "x");
  EXPECT_THAT(values("x1..x8 x2").texts, ElementsAre("x1", "x2", "x4", "x8"));
}

TEST(SweepValues, NamesAreNoNumbers) {
  for (const char* text : {"f64,bf16", "auto,1024", "h:h:h", "inf,x2", "../machine.toml,clx-ai"})
    EXPECT_FALSE(values(text).numeric()) << text;
  EXPECT_THAT(values("../a.toml").texts, ElementsAre("../a.toml"));
}

TEST(SweepValues, NumbersBeyondAllRangesAreTexts) {
  for (const char* text : {"1e400", "1e-400", "1,1e400"}) EXPECT_FALSE(values(text).numeric()) << text;
}

TEST(SweepValues, TextsStayAsTheyStand) {
  const SweepValues names = texts_in(items_in("1e2, 4K,1..2 x2"));
  EXPECT_THAT(names.texts, ElementsAre("1e2", "4K", "1..2 x2"));
  EXPECT_FALSE(names.numeric());
  expect_input_error([] { texts_in(items_in("a,a")); }, {"'a' is given twice"});
}

TEST(SweepValues, SemicolonsPartValuesThatHoldCommas) {
  EXPECT_THAT(values("8K,8K,64; 16K").texts, ElementsAre("8K,8K,64", "16K"));
}

TEST(SweepValues, LongTextsAreNames) {
  const std::string digits(100000, '1');
  EXPECT_FALSE(expand_values(items_in(digits)).numeric());
  EXPECT_FALSE(expand_values(items_in(digits + ".." + digits)).numeric());
}

TEST(SweepValues, WhatIsNoneIsRefused) {
  for (const auto& [text, quoted] : {std::pair{"", "'' is not a value"},
                                     {"1,,2", "'' is not a value"},
                                     {"1..8", "'1..8' is not a range"},
                                     {"8..1 x2", "does not ascend"},
                                     {"1..8 x1", "does not ascend"},
                                     {"25 GB/s..100 GB/s x2 MB/s", "expected one unit"},
                                     {"x1..x8 x2 GB/s", "expected one unit"},
                                     {"0..8 x2", "does not ascend"},
                                     {"1..8 +0", "does not ascend"},
                                     {"1..8 -1", "is not a range"},
                                     {"1 GB/s..8 us x2", "is not a range"},
                                     {"1..1e9 +1", "at most 10000"},
                                     {"4K,4096", "'4096' is given twice"}})
    expect_input_error([&t = text] { values(t); }, {quoted});
}

}  // namespace
}  // namespace tilerail::study
