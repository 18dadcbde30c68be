#pragma once

#include <functional>
#include <string>

#include "model/problem.hpp"
#include "tilerail/tilerail.h"
#include "tilerail/tilerail.hpp"

namespace tilerail::api {

/// What functions of the C interface have in common: calls `body`, turns what it throws
/// into a status, and keeps the text for this thread and handle.
tilerail_status_t guarded_call(tilerail_handle_t handle,
                               const std::function<void(Context&)>& body) noexcept;

/// Throws InputError where it is none of tilerail_dtype_t.
DType checked_dtype(tilerail_dtype_t dtype);

/// What tilerail_plan_origin tells from now on.
void tell_origin(tilerail_handle_t handle, std::string text);

}  // namespace tilerail::api
