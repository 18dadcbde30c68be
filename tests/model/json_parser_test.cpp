#include "model/base/json_parser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <vector>

#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

void expect_refused(std::string_view json, const std::string& message) {
  expect_input_error([&] { parse_json(json, "f.json"); }, {message});
}

TEST(ParseJson, AKeyThatIsThereTwiceIsNamedByItsPath) {
  expect_refused(R"({"a": 1, "b": 2, "a": 3})", "f.json: /a: the key is there twice; expected it once");
  expect_refused(R"({"a": {"b": {}, "b": []}})", "f.json: /a/b: the key is there twice");
  expect_refused(R"({"a": [1, "x", [], {"k": null}, {"k": true, "k": 2.5}]})",
                 "f.json: /a/4/k: the key is there twice");
  expect_refused(R"([[], [{}, -1, {"k": 1, "l": 1, "k": 1}]])", "f.json: /1/2/k: the key is there twice");
}

TEST(ParseJson, EqualKeysOfSeveralObjectsAreKept) {
  const std::string text = R"({"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}})";
  EXPECT_EQ(parse_json(text, "f.json").dump(), text);
}

TEST(ParseJson, WhatIsNotJsonIsNamedByLineAndColumn) {
  expect_refused("{\n\"a\": 1,\n  x}", "f.json:3:3: not JSON: syntax error while parsing object key");
  expect_refused("[1, 2", "f.json:1:6: not JSON: syntax error");
  expect_refused("[1e999]", "f.json: not JSON: number overflow parsing '1e999'");
  expect_refused("", "f.json:1:1: not JSON: ");  // newer libraries say it in other words
}

TEST(ParseJson, TheFirstOfTwoErrorsIsTold) {
  expect_refused(R"({"a": 1, "a": 2,)", "/a: the key is there twice");
  expect_refused(R"({"a": 1, "b": [2,}, "a": 2})", "f.json:1:18: not JSON");
}

/// An object whose array `some` is streamed: its entries, one after another, and what is kept.
class StreamedJson : public ::testing::Test {
 protected:
  Json read(const std::string& json) {
    std::istringstream text{json};
    return parse_json(text, "f.json", streamed);
  }

  std::vector<std::string> entries;
  std::array<JsonEntries, 1> streamed{JsonEntries{
      "some", [this](const JsonReader& entry) { entries.push_back(entry.where() + " " + read_entry(entry)); }}};

 private:
  static std::string read_entry(const JsonReader& entry) { return std::to_string(entry.at("x").integer(0, 9)); }
};

TEST_F(StreamedJson, EntriesAreReadOneByOneAndNotKept) {
  const Json kept = read(R"({"a": {"some": [1]}, "some": [{"x": 1}, {"x": 2, "y": [{}]}], "b": [{"some": [2]}]})");
  EXPECT_EQ(entries, (std::vector<std::string>{"f.json: /some/0 1", "f.json: /some/1 2"}));
  EXPECT_EQ(kept.dump(), R"({"a":{"some":[1]},"some":[],"b":[{"some":[2]}]})");
}

TEST_F(StreamedJson, WhatIsNoArrayIsKept) {
  EXPECT_EQ(read(R"({"some": {"x": 1}})").dump(), R"({"some":{"x":1}})");
  EXPECT_TRUE(entries.empty());
}

TEST_F(StreamedJson, TheFirstEntryThatIsRefusedIsToldWhenItIsAskedFor) {
  read(R"({"some": [{"x": 1}, {"x": 10}, {}, {"x": 3}]})");
  EXPECT_EQ(entries.size(), 1u);
  expect_input_error([&] { streamed[0].check(); }, {"f.json: /some/1/x: 10: expected an integer from 0 to 9"});
}

TEST_F(StreamedJson, AKeyThatIsThereTwiceIsNamedByItsPath) {
  expect_input_error([&] { read(R"({"some": [{"x": 1}, {"x": 1, "x": 2}]})"); },
                     {"f.json: /some/1/x: the key is there twice"});
  expect_input_error([&] { read(R"({"some": [], "some": []})"); }, {"f.json: /some: the key is there twice"});
}

}  // namespace
}  // namespace tilerail
