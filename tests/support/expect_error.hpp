#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace tilerail
