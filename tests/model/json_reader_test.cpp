#include "model/base/json_reader.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tilerail
