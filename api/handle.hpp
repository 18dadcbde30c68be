#pragma once

#include <cstdint>

#include "tilerail/tilerail.hpp"

/// What a tilerail_handle_t points to.
struct tilerail_context {  // NOLINT(readability-identifier-naming): a name of C
  explicit tilerail_context(tilerail::Context given);
  ~tilerail_context();
  tilerail_context(const tilerail_context&) = delete;
  tilerail_context& operator=(const tilerail_context&) = delete;

  tilerail::Context context;
};

namespace tilerail::api {

/// The unique number of the context at this address; 0 if there is none.
std::uint64_t number_of(const tilerail_context* handle);

}  // namespace tilerail::api
