#pragma once

#include "tilerail/tilerail.hpp"

/// What a tilerail_handle_t points to.
struct tilerail_context {  // NOLINT(readability-identifier-naming): a name of C
  tilerail::Context context;
};
