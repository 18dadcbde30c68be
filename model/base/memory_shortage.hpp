#pragma once

#include "model/base/error.hpp"

namespace tilerail {

/// A memory has too little space.
struct MemoryShortage : InputError {
  using InputError::InputError;
};

}  // namespace tilerail
