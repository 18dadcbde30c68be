#include "python/binding/arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "model/base/error.hpp"

namespace tilerail::python {
namespace {

namespace nb = nanobind;

void require_matrix(size_t dimensions, const char* name) {
  if (dimensions != 2)
    throw InputError{name, std::to_string(dimensions), "dimensions are given", "2"};
}

std::optional<DType> dtype_of(const nb::dlpack::dtype& type) {
  using nb::dlpack::dtype_code;
  const auto is = [&](dtype_code code, int bits) {
    return type.code == uint8_t(code) && type.bits == bits && type.lanes == 1;
  };
  if (is(dtype_code::Float, 64)) return DType::f64;
  if (is(dtype_code::Float, 32)) return DType::f32;
  if (is(dtype_code::Float, 16)) return DType::f16;
  if (is(dtype_code::Bfloat, 16)) return DType::bf16;
  return std::nullopt;
}

/// Parses the notation of NumPy for types, such as "<f8".
std::optional<DType> dtype_of(std::string_view type) {
  if (type == "<f8") return DType::f64;
  if (type == "<f4") return DType::f32;
  if (type == "<f2") return DType::f16;
  return std::nullopt;
}

DType supported(std::optional<DType> type, const char* name) {
  if (type) return *type;
  throw fault_of(name, "has elements of another type",
                 "float64, float32, float16 or bfloat16");
}

bool is_on_gpu(int device, const char* name) {
  namespace known = nb::device;
  if (device == known::cuda::value) return true;
  if (device == known::cpu::value || device == known::cuda_host::value) return false;
  throw InputError{name, std::to_string(device), "is the type of its device in DLPack",
                   "1 (CPU), 2 (CUDA) or 3 (page-locked)"};
}

/// By DLPack or the buffer protocol; absent for other objects.
template <class... Form>
std::optional<Array> exported(nb::handle object, const char* name) {
  nb::ndarray<Form...> array;
  if (!nb::try_cast(object, array)) return std::nullopt;
  require_matrix(array.ndim(), name);
  return Array{const_cast<void*>(static_cast<const void*>(array.data())),
               {int64_t(array.shape(0)), int64_t(array.shape(1))},
               {array.stride(0), array.stride(1)},
               supported(dtype_of(array.dtype()), name),
               is_on_gpu(array.device_type(), name),
               std::make_shared<nb::ndarray<Form...>>(array)};
}

Array of_cuda_interface(const nb::dict& facts, const char* name, bool written) {
  const auto shape = nb::cast<std::vector<int64_t>>(facts["shape"]);
  require_matrix(shape.size(), name);
  const auto [data, read_only] = nb::cast<std::pair<uintptr_t, bool>>(facts["data"]);
  if (read_only && written) throw fault_of(name, "is read-only", "an array to write to");
  const DType dtype = supported(dtype_of(nb::cast<std::string>(facts["typestr"])), name);
  Array array{reinterpret_cast<void*>(data),
              {shape[0], shape[1]},
              {shape[1], 1},
              dtype,
              true,
              {}};
  if (const nb::object strides = facts.get("strides", nb::none()); !strides.is_none()) {
    const auto bytes = nb::cast<std::vector<int64_t>>(strides);
    array.strides = {bytes.at(0) / element_size(dtype),
                     bytes.at(1) / element_size(dtype)};
  }
  return array;
}

/// Absent for objects without the interface, or with an invalid one.
std::optional<Array> described(nb::handle object, const char* name, bool written) try {
  constexpr const char* interface = "__cuda_array_interface__";
  if (!nb::hasattr(object, interface)) return std::nullopt;
  return of_cuda_interface(nb::dict{object.attr(interface)}, name, written);
} catch (const nb::python_error&) {
  return std::nullopt;
} catch (const std::bad_cast&) {
  return std::nullopt;
} catch (const std::out_of_range&) {
  return std::nullopt;
}

}  // namespace

Array array_of(nb::handle object, const char* name, bool written) {
  auto array = written ? exported<>(object, name) : exported<nb::ro>(object, name);
  if (!array) array = described(object, name, written);
  if (array) return *array;
  throw InputError{
      name, nb::inst_name(object).c_str(),
      written ? "is not an array that can be written to" : "is not an array of numbers",
      "an array with DLPack or __cuda_array_interface__"};
}

Stored stored(const Array& array, const char* name) {
  const auto [rows, cols] = array.shape;
  const auto [down, right] = array.strides;
  const bool by_rows = right == 1 || cols <= 1, by_cols = down == 1 || rows <= 1;
  if (reinterpret_cast<uintptr_t>(array.data) % uintptr_t(element_size(array.dtype)) != 0)
    throw fault_of(name, "is not aligned to its elements", "a copy of the array");
  Stored matrix{array.data};
  matrix.by_rows = by_rows && !(by_cols && down == 1 && rows > 1);
  matrix.rows = matrix.by_rows ? cols : rows;
  matrix.cols = matrix.by_rows ? rows : cols;
  const int64_t ld = matrix.by_rows ? down : right;
  if (!(by_rows || by_cols) || (matrix.cols > 1 && ld < matrix.rows))
    throw InputError{name, std::to_string(down) + ", " + std::to_string(right),
                     "are its strides in elements",
                     "rows or columns without gaps, that do not overlap"};
  matrix.ld = matrix.cols > 1 ? ld : std::max<int64_t>(1, matrix.rows);
  matrix.on_gpu = array.on_gpu;
  return matrix;
}

/// Whether two matrices are disjoint rows of columns of one larger matrix.
bool alternate(const Stored& a, const Stored& b, int64_t element) {
  if (a.ld != b.ld || a.cols < 2 || b.cols < 2) return false;
  const auto pitch = a.ld * element;
  const auto apart =
      int64_t(reinterpret_cast<uintptr_t>(b.data) - reinterpret_cast<uintptr_t>(a.data));
  const int64_t down = (apart % pitch + pitch) % pitch;  // of b below a, in bytes
  return down >= a.rows * element && down + b.rows * element <= pitch;
}

bool overlap(const Stored& a, const Stored& b, int64_t element) {
  const auto range = [&](const Stored& m) {
    const auto first = reinterpret_cast<uintptr_t>(m.data);
    const int64_t elements =
        m.rows == 0 || m.cols == 0 ? 0 : (m.cols - 1) * m.ld + m.rows;
    return std::pair{first, first + uintptr_t(elements * element)};
  };
  const auto [begin, end] = range(a);
  const auto [first, last] = range(b);
  return begin < last && first < end && !alternate(a, b, element);
}

}  // namespace tilerail::python
