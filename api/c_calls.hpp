#pragma once

#include <functional>
#include <string>

#include "model/problem.hpp"
#include "tilerail/tilerail.h"
#include "tilerail/tilerail.hpp"

namespace tilerail::api {

/// Common part of the C functions: calls `body`, converts exceptions into a status, and
/// keeps the error text for this thread and handle.
tilerail_status_t guarded_call(tilerail_handle_t handle,
                               const std::function<void(Context&)>& body) noexcept;

/// Throws InputError if it is not a tilerail_dtype_t.
DType checked_dtype(tilerail_dtype_t dtype);

/// Sets the text that tilerail_plan_origin returns.
void set_origin(tilerail_handle_t handle, std::string text);

}  // namespace tilerail::api
