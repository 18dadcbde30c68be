#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "model/base/error.hpp"

namespace tilerail {

/// `action` throws InputError with all of `words` in its message.
template <class Action>
void expect_input_error(Action action, std::initializer_list<std::string> words) {
  try {
    action();
    ADD_FAILURE() << "no InputError; expected one with '" << *words.begin() << "'";
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (const std::string& word : words)
      EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' is not in: " << message;
  }
}

}  // namespace tilerail
