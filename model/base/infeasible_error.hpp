#pragma once

#include <optional>
#include <type_traits>

#include "model/base/error.hpp"

namespace tilerail {

/// Valid input for which no plan exists: tiles or matrices do not fit in a memory, a
/// route or watts are missing, or a machine or a plan is too large.
struct InfeasibleError : InputError {
  using InputError::InputError;
  explicit InfeasibleError(const InputError& error) : InputError{error} {}
};

/// A result, or why it does not exist.
template <class Result>
struct Feasible {
  std::optional<Result> result;
  std::optional<InfeasibleError> error = {};
};

/// The result of `make()`, or its InfeasibleError. Other errors propagate.
template <class Make>
Feasible<std::invoke_result_t<const Make&>> feasible(const Make& make) {
  try {
    return {make()};
  } catch (const InfeasibleError& error) {
    return {{}, error};
  }
}

}  // namespace tilerail
