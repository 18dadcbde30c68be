#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "model/base/error.hpp"

namespace tilerail {

/// Matches a text that contains all words.
inline ::testing::Matcher<std::string> mentions(const std::vector<std::string>& words) {
  std::vector<::testing::Matcher<std::string>> each;
  for (const std::string& word : words) each.push_back(::testing::HasSubstr(word));
  return ::testing::AllOfArray(each);
}

/// Expects InputError with all of `words` in its message.
template <class Action>
void expect_input_error(const Action& action, const std::vector<std::string>& words) {
  EXPECT_THAT(action, ::testing::ThrowsMessage<InputError>(mentions(words)));
}

/// Fields of an InputError; the others may be anything.
struct ErrorFields {
  std::optional<std::string> subject = {}, value = {}, expected = {}, place = {};
};

/// `action` throws InputError with these fields.
template <class Action>
void expect_error(const Action& action, const ErrorFields& fields) {
  try {
    action();
    ADD_FAILURE() << "no InputError";
  } catch (const InputError& error) {
    EXPECT_EQ(error.subject, fields.subject.value_or(error.subject)) << error.what();
    EXPECT_EQ(error.expected, fields.expected.value_or(error.expected)) << error.what();
    EXPECT_EQ(error.place, fields.place.value_or(error.place)) << error.what();
    EXPECT_EQ(error.value, fields.value ? fields.value : error.value) << error.what();
  }
}

}  // namespace tilerail
