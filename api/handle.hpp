#pragma once

#include <atomic>
#include <cstdint>

#include "tilerail/tilerail.hpp"

/// What a tilerail_handle_t points to.
struct tilerail_context {  // NOLINT(readability-identifier-naming): a name of C
  tilerail::Context context;
  uint64_t number = ++made;  // that no other has: the next one at this address has no
                             // errors of this one

  static inline std::atomic<uint64_t> made = 0;
};
