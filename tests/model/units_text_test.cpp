#include "model/base/units_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

TEST(Units, DecimalPrefixesArePowersOfTen) {
  EXPECT_EQ(parse_rate("24 GB/s"), Rate{24e9});
  EXPECT_EQ(parse_rate("0.5 TB/s"), Rate{5e11});
  EXPECT_EQ(parse_bytes("40 GB"), Bytes{40e9});
  EXPECT_EQ(parse_flop_rate("17.2 TFLOP/s"), FlopRate{17.2e12});
  EXPECT_EQ(parse_watts("400 W"), Watts{400});
}

TEST(Units, BinaryPrefixesArePowersOfTwo) {
  EXPECT_EQ(parse_bytes("8 KiB"), Bytes{8192});
  EXPECT_EQ(parse_bytes("40 GiB"), Bytes{40.0 * 1024 * 1024 * 1024});
  EXPECT_EQ(parse_rate("1 MiB/s"), Rate{1048576});
}

TEST(Units, SmallUnitsGiveTheNearestDouble) {
  EXPECT_EQ(parse_seconds("2.5 us"), Seconds{2.5e-6});
  EXPECT_EQ(parse_seconds("3 ns"), Seconds{3e-9});
  EXPECT_EQ(parse_seconds("10 us"), Seconds{1e-5});
  EXPECT_EQ(parse_seconds("0.7 ms"), Seconds{7e-4});
}

TEST(Units, BlanksBeforeTheUnitAreOptional) {
  EXPECT_EQ(parse_rate("24GB/s"), parse_rate("24   GB/s"));
}

TEST(Units, BadTextsNameTheValueAndTheUnitsToWrite) {
  expect_input_error([] { parse_rate("48 Gb"); },
                     {"'48 Gb' has no known unit", "GB/s or GiB/s"});
  expect_input_error([] { parse_rate("48"); }, {"'48' has no known unit"});
  expect_input_error([] { parse_seconds("us"); },
                     {"'us' is not a number with a unit", "us"});
  expect_input_error([] { parse_seconds(""); }, {"'' is not a number"});
  expect_input_error([] { parse_seconds("5 GB/s"); },
                     {"'5 GB/s' has no known unit", "s, ms, us or ns"});
  expect_input_error([] { parse_bytes("nan GB"); }, {"'nan GB' is not a number"});
  expect_input_error([] { parse_bytes("inf B"); }, {"'inf B' is not a number"});
  expect_input_error([] { parse_bytes("1e999 B"); }, {"'1e999 B' is not a number"});
  expect_input_error([] { parse_bytes("1e308 TB"); }, {"'1e308 TB' is too large"});
  expect_input_error([] { parse_bytes("1 GB "); }, {"'1 GB ' has no known unit"});
  expect_input_error([] { parse_watts("3 w"); }, {"'3 w' has no known unit", "W or kW"});
}

TEST(Units, TextIsInTheLargestUnitWithANumberOfAtLeastOne) {
  EXPECT_EQ(to_text(Rate{24e9}), "24 GB/s");
  EXPECT_EQ(to_text(Seconds{2.5e-6}), "2.5 us");
  EXPECT_EQ(to_text(Seconds{0}), "0 s");
  EXPECT_EQ(to_text(Bytes{512}), "512 B");
  EXPECT_EQ(to_text(FlopRate{9.7e12}), "9.7 TFLOP/s");
}

TEST(Units, TextHasNoMoreDigitsThanItNeeds) {
  EXPECT_EQ(to_text(Seconds{7.979e-6}), "7.979 us");
  EXPECT_EQ(to_text(Seconds{1.018e-5}),
            "10180 ns");  // 10.18 us is the neighbouring double
  for (int i = 1000; i < 10000; ++i) {
    const std::string text = fmt::format("{} us", i / 1000.0);
    EXPECT_EQ(to_text(parse_seconds(text)), text);
    EXPECT_LE(to_text(Seconds{i / 1e9}).size(), std::string{"1.234 us"}.size());
    EXPECT_EQ(parse_seconds(to_text(Seconds{i / 1e9})), Seconds{i / 1e9});
  }
}

TEST(Units, BriefTextHasThreeDigits) {
  EXPECT_EQ(brief_text(Seconds{3.3e-6}), "3.3 us");
  EXPECT_EQ(brief_text(Seconds{0}), "0 s");
  EXPECT_EQ(brief_text(Rate{27.405e9}), "27.4 GB/s");
  EXPECT_EQ(brief_text(Rate{999.7e9}), "1 TB/s");
  EXPECT_EQ(brief_text(FlopRate{66.9e12 / 3}), "22.3 TFLOP/s");
  EXPECT_EQ(brief_text(Rate{5000e15}), "5000 PB/s");
}

TEST(Units, TextReadsBackAsTheSameDouble) {
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> exponent{-12, 15};
  for (int i = 0; i < 1000; ++i) {
    const double value = std::pow(10, exponent(random));
    EXPECT_EQ(parse_seconds(to_text(Seconds{value})), Seconds{value});
    EXPECT_EQ(parse_bytes(to_text(Bytes{value})), Bytes{value});
    EXPECT_EQ(parse_rate(to_text(Rate{value})), Rate{value});
    EXPECT_EQ(parse_flop_rate(to_text(FlopRate{value})), FlopRate{value});
    EXPECT_EQ(parse_watts(to_text(Watts{value})), Watts{value});
  }
}

TEST(Units, QuotedTextsAreCutAndPrintable) {
  EXPECT_EQ(in_quotes("a\nb\x7f"), "'a\\x0ab\\x7f'");
  EXPECT_EQ(in_quotes("t\x80g"), "'t\\x80g'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(80, 'x') + "...'");
  EXPECT_EQ(in_quotes(std::string(79, 'x') + "\xc3\xa9" + "y"),
            "'" + std::string(79, 'x') + "...'");
}

}  // namespace
}  // namespace tilerail
