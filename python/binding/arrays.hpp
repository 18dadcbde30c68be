#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>

#include "model/problem.hpp"

namespace tilerail::python {

/// A matrix in an array of Python: rows and columns, and their strides in elements.
struct Array {
  void* data = nullptr;
  std::array<int64_t, 2> shape{}, strides{};
  DType dtype = DType::f64;
  bool on_gpu = false;
  std::shared_ptr<void> owner = {};  // keeps the memory; released with the GIL
};

/// The matrix of an object with DLPack, the buffer protocol or __cuda_array_interface__.
/// Throws InputError about `name`, also if a `written` array is read-only.
Array array_of(nanobind::handle object, const char* name, bool written);

/// A matrix, or its transpose, as a column-major matrix.
struct Stored {
  void* data = nullptr;
  int64_t rows = 0, cols = 0, ld = 0;  // elements
  bool by_rows = false;  // the array's rows are contiguous: this is the transpose
  bool on_gpu = false;
};

/// Throws InputError about `name` if neither rows nor columns are contiguous.
Stored stored(const Array& array, const char* name);

/// Whether both have an element of this size in one place.
bool overlap(const Stored& a, const Stored& b, int64_t element);

}  // namespace tilerail::python
