#pragma once

#include "model/base/error.hpp"

namespace tilerail {

/// A memory has less room than is needed of it.
struct MemoryShortage : InputError {
  using InputError::InputError;
};

}  // namespace tilerail
