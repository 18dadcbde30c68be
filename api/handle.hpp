#pragma once

#include <atomic>
#include <cstdint>

#include "tilerail/tilerail.hpp"

/// The target of a tilerail_handle_t.
struct tilerail_context {  // NOLINT(readability-identifier-naming): a name of C
  tilerail::Context context;
  uint64_t number = ++made;  // unique: a later context at this address does not inherit
                             // errors

  static inline std::atomic<uint64_t> made = 0;
};
