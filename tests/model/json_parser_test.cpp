#include "model/base/json_parser.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <vector>

#include "model/base/error.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

void expect_refused_json(std::string_view json, const std::string& message) {
  expect_input_error([&] { parse_json(json, "f.json"); }, {message});
}

TEST(ParseJson, ADuplicateKeyIsNamedByItsPath) {
  expect_refused_json(R"({"a": 1, "b": 2, "a": 3})",
                      "f.json: /a: is given twice; expected it once");
  expect_refused_json(R"({"a": {"b": {}, "b": []}})", "f.json: /a/b: is given twice");
  expect_refused_json(R"({"a": [1, "x", [], {"k": null}, {"k": true, "k": 2.5}]})",
                      "f.json: /a/4/k: is given twice");
  expect_refused_json(R"([[], [{}, -1, {"k": 1, "l": 1, "k": 1}]])",
                      "f.json: /1/2/k: is given twice");
}

TEST(ParseJson, EqualKeysOfSeveralObjectsAreKept) {
  const std::string text = R"({"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}})";
  EXPECT_EQ(parse_json(text, "f.json").dump(), text);
}

TEST(ParseJson, SyntaxErrorsAreNamedByLineAndColumn) {
  expect_refused_json("{\n\"a\": 1,\n  x}",
                      "f.json:3:3: not JSON: syntax error while parsing object key");
  expect_refused_json("[1, 2", "f.json:1:6: not JSON: syntax error");
  expect_refused_json("[1,\n 1e999]",
                      "f.json:2:7: not JSON: number overflow parsing '1e999'");
  expect_refused_json("",
                      "f.json:1:1: not JSON: ");  // the text differs in newer libraries
}

TEST(ParseJson, AZeroByteIsRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"[1]\0"sv, "[1]\n\0garbage{"sv, "[\"a\0b\"]"sv})
    EXPECT_THROW(parse_json(text, "f.json"), InputError) << text;
  expect_refused_json("[1]\n\0{"sv, "f.json:2:1: a zero byte; expected text");
}

TEST(ParseJson, TheFirstOfTwoErrorsIsReported) {
  expect_refused_json(R"({"a": 1, "a": 2,)", "/a: is given twice");
  expect_refused_json(R"({"a": 1, "b": [2,}, "a": 2})", "f.json:1:18: not JSON");
}

/// `open`, repeated.
std::string repeated(std::string_view open, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += open;
  return text;
}

TEST(ParseJson, ValuesCanBeNestedToALimit) {
  for (const auto& [open, value, close] :
       {std::array{"[", "1", "]"}, std::array{R"({"k":)", "1", "}"}}) {
    const std::string most = repeated(open, 100) + value + repeated(close, 100);
    EXPECT_EQ(parse_json(most, "f.json").dump(), most);
    for (const size_t depth : {101u, 80'000u, 1'000'000u}) {
      const std::string deep = repeated(open, depth);
      const std::string place =
          fmt::format("f.json:1:{}: ", std::string_view{open}.size() * 100 + 1);
      const std::string words =
          place + "arrays and objects are nested too deep; expected at most 100 levels";
      expect_refused_json(deep, words);  // also without the closing brackets
      expect_refused_json(deep + value + repeated(close, depth), words);
    }
  }
  expect_refused_json("{\n \"k\": [\n" + repeated("[\n", 500),
                      "f.json:101:1: arrays and objects are nested");
  std::istringstream stream{repeated(" [", 80'000)};
  expect_input_error([&] { parse_json(stream, "f.json"); },
                     {"f.json:1:202: arrays and objects are nested"});
}

TEST(ParseJson, QuotationsAreShort) {
  const std::string many(1'000'000, '7');
  for (const std::string& json :
       {many, "[" + many + "]", "{\"k\": -" + many + "}", "\"" + many,
        "[\"" + many + "\x01\"]", "{\"" + many + "\": 1, \"" + many + "\": 1}",
        many + "x", "{\"" + many + "\": {\"k\": 1, \"k\": 2}}"})
    try {
      parse_json(json, "f.json");
      FAIL();
    } catch (const InputError& error) {
      EXPECT_LT(std::string{error.what()}.size(), 500u) << json.substr(0, 20);
    }
}

/// An object with the streamed array `some`: its entries one after another, and the
/// stored rest.
class StreamedJson : public ::testing::Test {
 protected:
  Json read(const std::string& json) {
    std::istringstream text{json};
    return parse_json(text, "f.json", streamed);
  }

  std::vector<std::string> entries;
  std::array<JsonEntries, 1> streamed{
      JsonEntries{"some", [this](const JsonReader& entry) {
                    entries.push_back(entry.where() + " " + read_entry(entry));
                  }}};

 private:
  static std::string read_entry(const JsonReader& entry) {
    return std::to_string(entry.at("x").integer(0, 9));
  }
};

TEST_F(StreamedJson, EntriesAreReadOneByOneAndNotKept) {
  const Json kept = read(
      R"({"a": {"some": [1]}, "some": [{"x": 1}, {"x": 2, "y": [{}]}], "b": [{"some": [2]}]})");
  EXPECT_EQ(entries,
            (std::vector<std::string>{"f.json: /some/0 1", "f.json: /some/1 2"}));
  EXPECT_EQ(kept.dump(), R"({"a":{"some":[1]},"some":[],"b":[{"some":[2]}]})");
}

TEST_F(StreamedJson, OtherValuesThanArraysAreKept) {
  EXPECT_EQ(read(R"({"some": {"x": 1}})").dump(), R"({"some":{"x":1}})");
  EXPECT_TRUE(entries.empty());
}

TEST_F(StreamedJson, CheckReportsTheFirstRefusedEntry) {
  read(R"({"some": [{"x": 1}, {"x": 10}, {}, {"x": 3}]})");
  EXPECT_EQ(entries.size(), 1u);
  expect_input_error([&] { streamed[0].check(); },
                     {"f.json: /some/1/x: '10' is not an integer from 0 to 9"});
}

TEST_F(StreamedJson, ADuplicateKeyIsNamedByItsPath) {
  expect_input_error([&] { read(R"({"some": [{"x": 1}, {"x": 1, "x": 2}]})"); },
                     {"f.json: /some/1/x: is given twice"});
  expect_input_error([&] { read(R"({"some": [], "some": []})"); },
                     {"f.json: /some: is given twice"});
}

}  // namespace
}  // namespace tilerail
