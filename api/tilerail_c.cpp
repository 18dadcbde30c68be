#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "api/c_calls.hpp"
#include "api/handle.hpp"
#include "api/session.hpp"
#include "model/base/error.hpp"
#include "model/base/memory_shortage.hpp"
#include "model/base/threads.hpp"
#include "tilerail/tilerail.h"

using tilerail::Context;
using tilerail::ContextOptions;
using tilerail::fault_of;
using tilerail::HostPages;
using tilerail::InputError;
using tilerail::out_of_range;
using tilerail::Pageable;
using tilerail::api::checked_dtype;

namespace {

uint64_t number_of(tilerail_handle_t handle) {
  return handle == nullptr ? 0 : handle->number;
}

/// The last text for this thread, and the number of its context; 0: none.
struct LastText {
  uint64_t context = 0;
  std::string text;

  const char* about(tilerail_handle_t handle) const {
    return context == number_of(handle) ? text.c_str() : "";
  }
};
thread_local LastText last_error;  // of the last failure
thread_local LastText last_plan;   // origin of the plan of the last successful call

tilerail_status_t failed(tilerail_handle_t handle, tilerail_status_t status,
                         const char* text) noexcept {
  try {
    last_error = {number_of(handle), text};
  } catch (...) {
    last_error.text.clear();
  }
  return status;
}

/// Calls `body` and converts exceptions into a status.
template <class Body>
tilerail_status_t guarded(tilerail_handle_t handle, Body body) noexcept {
  try {
    body();
    return TILERAIL_SUCCESS;
  } catch (const tilerail::ArgumentError& error) {
    return failed(handle, -error.argument, error.what());
  } catch (const tilerail::MemoryShortage& error) {
    return failed(handle, TILERAIL_OUT_OF_MEMORY, error.what());
  } catch (const tilerail::ThreadShortage& error) {
    return failed(handle, TILERAIL_EXECUTION_FAILED, error.what());
  } catch (const InputError& error) {
    return failed(handle, TILERAIL_INVALID_VALUE, error.what());
  } catch (const tilerail::HardwareError& error) {
    return failed(handle, TILERAIL_NO_HARDWARE, error.what());
  } catch (const std::bad_alloc&) {
    return failed(handle, TILERAIL_OUT_OF_MEMORY, "the host is out of memory");
  } catch (const std::runtime_error& error) {
    return failed(handle, TILERAIL_EXECUTION_FAILED, error.what());
  } catch (const std::exception& error) {
    return failed(handle, TILERAIL_INTERNAL_ERROR, error.what());
  } catch (...) {
    return failed(handle, TILERAIL_INTERNAL_ERROR, "an unknown error");
  }
}

template <class Body>
tilerail_status_t with(tilerail_handle_t handle, Body body) noexcept {
  if (handle == nullptr)
    return failed(nullptr, TILERAIL_INVALID_HANDLE, "the handle is null");
  return guarded(handle, [&] { body(handle->context); });
}

std::string text_of(const char* text, const char* what) {
  if (text == nullptr) throw fault_of(what, "is null");
  return text;
}

std::vector<int> devices_of(const int* devices, int count) {
  if (count < 0) throw out_of_range("device_count", std::to_string(count), "0 or more");
  if (devices == nullptr && count > 0)
    throw fault_of("devices", "is null", fmt::format("{} numbers", count));
  return devices ? std::vector<int>(devices, devices + count) : std::vector<int>{};
}

/// The C++ value with the same number as the C value. `values` lists the C++ values by
/// number.
template <class Value, class Number>
Value same_in_cpp(const char* what, Number number, std::initializer_list<Value> values) {
  const auto at = size_t(number);
  if (at >= values.size())
    throw InputError{what, std::to_string(number), "",
                     fmt::format("one of tilerail_{}_t", what)};
  return values.begin()[at];
}

}  // namespace

namespace tilerail::api {

tilerail_status_t guarded_call(tilerail_handle_t handle,
                               const std::function<void(Context&)>& body) noexcept {
  return with(handle, body);
}

DType checked_dtype(tilerail_dtype_t dtype) {
  return same_in_cpp("dtype", dtype,
                     {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
}

void set_origin(tilerail_handle_t handle, std::string text) {
  last_plan = {number_of(handle), std::move(text)};
}

}  // namespace tilerail::api

extern "C" {

tilerail_status_t tilerail_create(tilerail_handle_t* handle, const char* topology,
                                  const int* devices, int device_count) {
  if (handle == nullptr)
    return failed(nullptr, TILERAIL_INVALID_HANDLE, "the place for the handle is null");
  *handle = nullptr;
  return guarded(nullptr, [&] {
    ContextOptions options;
    if (topology) options.topology = topology;
    options.devices = devices_of(devices, device_count);
    *handle = new tilerail_context{Context{options}};
  });
}

tilerail_status_t tilerail_destroy(tilerail_handle_t handle) {
  return guarded(nullptr, [&] { delete handle; });
}

const char* tilerail_last_error(tilerail_handle_t handle) {
  return last_error.about(handle);
}

const char* tilerail_status_name(tilerail_status_t status) {
  if (status < 0) return "TILERAIL_INVALID_ARGUMENT";
  constexpr std::array names{"TILERAIL_SUCCESS",       "TILERAIL_INVALID_HANDLE",
                             "TILERAIL_INVALID_VALUE", "TILERAIL_NO_HARDWARE",
                             "TILERAIL_OUT_OF_MEMORY", "TILERAIL_EXECUTION_FAILED",
                             "TILERAIL_INTERNAL_ERROR"};
  return names[std::min(size_t(status), names.size() - 1)];
}

tilerail_status_t tilerail_set_plan_cache(tilerail_handle_t handle, const char* file) {
  return with(handle, [&](Context& context) {
    context.set_plan_cache(text_of(file, "the plan cache's file"));
  });
}

const char* tilerail_plan_origin(tilerail_handle_t handle) {
  return last_plan.about(handle);
}

tilerail_status_t tilerail_set_policy(tilerail_handle_t handle, const char* name) {
  return with(handle, [&](Context& context) {
    context.set_policy(text_of(name, "the policy's name"));
  });
}

tilerail_status_t tilerail_set_override(tilerail_handle_t handle,
                                        const char* assignment) {
  return with(handle, [&](Context& context) {
    context.set_override(text_of(assignment, "the assignment"));
  });
}

tilerail_status_t tilerail_set_tile(tilerail_handle_t handle, int64_t tile) {
  return with(handle, [&](Context& context) { context.set_tile(tile); });
}

tilerail_status_t tilerail_set_devices(tilerail_handle_t handle, const int* devices,
                                       int device_count) {
  return with(handle, [&](Context& context) {
    context.set_devices(devices_of(devices, device_count));
  });
}

tilerail_status_t tilerail_set_pageable(tilerail_handle_t handle,
                                        tilerail_pageable_t pageable) {
  return with(handle, [&](Context& context) {
    context.set_pageable(
        same_in_cpp("pageable", pageable,
                    {Pageable::registered, Pageable::staged, Pageable::copied}));
  });
}

tilerail_status_t tilerail_reserve(tilerail_handle_t handle, int64_t bytes) {
  return with(handle, [&](Context& context) { context.reserve(bytes); });
}

tilerail_status_t tilerail_register(tilerail_handle_t handle, void* data, int64_t bytes) {
  return with(handle, [&](Context& context) { context.register_memory(data, bytes); });
}

tilerail_status_t tilerail_unregister(tilerail_handle_t handle, void* data) {
  return with(handle, [&](Context& context) { context.unregister_memory(data); });
}

tilerail_status_t tilerail_keep(tilerail_handle_t handle, tilerail_dtype_t dtype,
                                const void* data, int64_t rows, int64_t cols,
                                int64_t ld) {
  return with(handle, [&](Context& context) {
    context.keep(checked_dtype(dtype), data, rows, cols, ld);
  });
}

tilerail_status_t tilerail_release(tilerail_handle_t handle, const void* data) {
  return with(handle, [&](Context& context) { context.release(data); });
}

tilerail_status_t tilerail_alloc_host(tilerail_handle_t handle, void** data,
                                      int64_t bytes, tilerail_pages_t pages) {
  if (data != nullptr) *data = nullptr;
  return with(handle, [&](Context& context) {
    if (data == nullptr) throw fault_of("data", "is null", "a place for the address");
    *data = context.allocate_host(
        bytes, same_in_cpp("pages", pages, {HostPages::spread, HostPages::plain}));
  });
}

tilerail_status_t tilerail_free_host(tilerail_handle_t handle, void* data) {
  return with(handle, [&](Context& context) { context.free_host(data); });
}

tilerail_status_t tilerail_host_rate(tilerail_handle_t handle, const void* data,
                                     int64_t bytes, double* rate) {
  return with(handle, [&](Context& context) {
    if (rate == nullptr) throw fault_of("rate", "is null", "a place for the rate");
    *rate = context.host_rate(data, bytes);
  });
}

tilerail_status_t tilerail_synchronize(tilerail_handle_t handle) {
  return with(handle, [](Context& context) { context.synchronize(); });
}

}  // extern "C"
