#pragma once

#include "tilerail/tilerail.hpp"

/// What a tilerail_handle_t points to.
struct tilerail_context {
  tilerail::Context context;
};
