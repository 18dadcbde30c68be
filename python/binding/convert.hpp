#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/base/json.hpp"
#include "study/job.hpp"

namespace tilerail::python {

namespace nb = nanobind;

/// The parts of the module.
void add_errors(nb::module_& module);
void add_machine(nb::module_& module);
void add_plan(nb::module_& module);
void add_studies(nb::module_& module);
void add_product(nb::module_& module);

/// Options of a job by key (study/sweep/keys.hpp).
using Texts = std::map<std::string, std::string>;
study::JobText job_of(const Texts& texts);

/// None, bool, int, float, str, list or dict.
nb::object python_of(const Json& json);

/// A read-only NumPy array that owns the values; they are not copied.
template <class T>
nb::object array_of(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner{
      kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); }};
  return nb::cast(nb::ndarray<nb::numpy, const T>{kept->data(), {kept->size()}, owner});
}

}  // namespace tilerail::python
