#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>

#include "api/shared_cache.hpp"
#include "api/signature.hpp"
#include "backends/host/measure/host_machine.hpp"
#include "backends/host/run/host_executor.hpp"
#include "model/base/error.hpp"
#include "python/binding/convert.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail::python {
namespace {

/// Products on threads of this computer: its cores are one processor, whose kernels read
/// and write the callers' arrays in place.
class HostProducts {
 public:
  explicit HostProducts(int threads)
      : machine_{host_machine(1, 1, threads)}, executor_{machine_} {}

  /// Threads wait for each other.
  void multiply(GemmProblem problem, const Matrices& matrices) {
    problem.place_a = problem.place_b = problem.place_c = machine_.hosts()[0];
    Plan plan = plan_of(problem);
    plan.gemm().alpha = problem.alpha, plan.gemm().beta = problem.beta;
    const std::lock_guard lock{mutex_};
    executor_.set_matrices(matrices);
    executor_.execute(plan);
  }

 private:
  Plan plan_of(const GemmProblem& problem) {
    return plans_.get(api::signature_of(problem, {}, {}), [&] {
      Policy policy = any_preset("tilerail");
      policy.effort = Effort::fast;
      policy.device_choice = DeviceChoice::all;
      return plan_gemm(problem, machine_, machine_.hosts(), policy);
    });
  }

  static constexpr size_t most_plans = 64;
  Topology machine_;
  api::SharedCache<api::Signature, Plan> plans_{most_plans};
  HostExecutor executor_;
  std::mutex mutex_;  // of the executor
};

using Input = nb::ndarray<nb::ro>;
using Output = nb::ndarray<>;

/// A matrix of an array, or its transpose, as a column-major matrix.
struct Stored {
  void* data = nullptr;
  int64_t rows = 0, cols = 0, ld = 0;  // elements
  bool by_rows = false;  // the array's rows are contiguous: this is the transpose
  int device = -1;       // CUDA device; -1: host
};

std::string shape_text(int64_t rows, int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

template <class Array>
Stored stored(const Array& array, const char* name) {
  if (array.ndim() != 2)
    throw InputError{name, std::to_string(array.ndim()), "dimensions are given", "2"};
  const auto rows = int64_t(array.shape(0)), cols = int64_t(array.shape(1));
  const int64_t down = array.stride(0), right = array.stride(1);
  const bool by_rows = right == 1 || cols <= 1, by_cols = down == 1 || rows <= 1;
  Stored matrix{const_cast<void*>(static_cast<const void*>(array.data()))};
  matrix.by_rows = by_rows && !(by_cols && down == 1 && rows > 1);
  matrix.rows = matrix.by_rows ? cols : rows;
  matrix.cols = matrix.by_rows ? rows : cols;
  const int64_t ld = matrix.by_rows ? down : right;
  if (!(by_rows || by_cols) || (matrix.cols > 1 && ld < matrix.rows))
    throw InputError{name, std::to_string(down) + ", " + std::to_string(right),
                     "are its strides in elements",
                     "rows or columns without gaps, that do not overlap"};
  matrix.ld = matrix.cols > 1 ? ld : std::max<int64_t>(1, matrix.rows);
  namespace device = nb::device;
  const int type = array.device_type();
  if (type == device::cuda::value)
    matrix.device = array.device_id();
  else if (type != device::cpu::value && type != device::cuda_host::value)
    throw InputError{name, std::to_string(type), "is the type of its device in DLPack",
                     "1 (CPU), 2 (CUDA) or 3 (page-locked)"};
  return matrix;
}

template <class Array>
DType dtype_of(const Array& array, const char* name) {
  using nb::dlpack::dtype_code;
  const nb::dlpack::dtype type = array.dtype();
  const auto is = [&](dtype_code code, int bits) {
    return type.code == uint8_t(code) && type.bits == bits && type.lanes == 1;
  };
  if (is(dtype_code::Float, 64)) return DType::f64;
  if (is(dtype_code::Float, 32)) return DType::f32;
  if (is(dtype_code::Float, 16)) return DType::f16;
  if (is(dtype_code::Bfloat, 16)) return DType::bf16;
  throw InputError{name, std::to_string(type.bits) + " bits", "are not a supported type",
                   "float64, float32, float16 or bfloat16"};
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
  return a.device == b.device && begin < last && first < end;
}

/// The product C = alpha A B + beta C of arrays as one of column-major matrices: if the
/// rows of C are contiguous, of the transposes.
struct Product {
  GemmProblem problem;
  std::array<Stored, 3> matrices;
};

Product product_of(const Input& a, const Input& b, const Output& c, double alpha,
                   double beta) {
  Stored of_a = stored(a, "A"), of_b = stored(b, "B");
  const Stored of_c = stored(c, "C");
  const auto m = int64_t(a.shape(0)), k = int64_t(a.shape(1)), n = int64_t(b.shape(1));
  if (int64_t(b.shape(0)) != k)
    throw InputError{"B", shape_text(int64_t(b.shape(0)), n), "is its shape",
                     "the " + std::to_string(k) + " rows that A has columns"};
  if (int64_t(c.shape(0)) != m || int64_t(c.shape(1)) != n)
    throw InputError{"C", shape_text(int64_t(c.shape(0)), int64_t(c.shape(1))),
                     "is its shape", shape_text(m, n)};
  Product product;
  GemmProblem& p = product.problem;
  p.dtype = dtype_of(c, "C");
  if (dtype_of(a, "A") != p.dtype || dtype_of(b, "B") != p.dtype)
    throw fault_of("A, B, C", "have different types", "one type");
  for (const Stored* input : {&of_a, &of_b})
    if (overlap(*input, of_c, element_size(p.dtype)))
      throw fault_of("C", "overlaps A or B", "memory of its own");
  p.m = of_c.rows, p.n = of_c.cols, p.k = k;
  p.alpha = alpha, p.beta = beta;
  if (of_c.by_rows) std::swap(of_a, of_b);
  const auto trans = [&](const Stored& input) {
    return input.by_rows == of_c.by_rows ? Trans::no : Trans::yes;
  };
  p.trans_a = trans(of_a), p.trans_b = trans(of_b);
  p.lda = of_a.ld, p.ldb = of_b.ld, p.ldc = of_c.ld;
  product.matrices = {of_a, of_b, of_c};
  return product;
}

/// The multipliers of this process, opened at the first product.
class Multipliers {
 public:
  static Multipliers& get() {
    static auto* const all = new Multipliers;  // its threads outlive the interpreter
    return *all;
  }

  void multiply(const Product& product, int threads) {
    const auto& [a, b, c] = product.matrices;
    const GemmProblem problem = checked(product.problem);
    if (std::max({a.device, b.device, c.device}) >= 0) return on_gpus(product);
    Matrices matrices;
    matrices.a = a.data, matrices.b = b.data, matrices.c = c.data;
    on_host(threads).multiply(problem, matrices);
  }

 private:
  HostProducts& on_host(int threads) {
    const std::lock_guard lock{mutex_};
    auto& products = hosts_[threads];
    if (!products) products = std::make_unique<HostProducts>(threads);
    return *products;
  }

  void on_gpus(const Product& product) {
    const GemmProblem& p = product.problem;
    const auto& [a, b, c] = product.matrices;
    GemmArguments call{p.dtype};
    call.trans_a = to_string(p.trans_a).front(),
    call.trans_b = to_string(p.trans_b).front();
    call.m = p.m, call.n = p.n, call.k = p.k, call.alpha = p.alpha, call.beta = p.beta;
    call.a = a.data, call.lda = p.lda, call.b = b.data, call.ldb = p.ldb;
    call.c = c.data, call.ldc = p.ldc;
    {
      const std::lock_guard lock{mutex_};
      if (!gpus_) gpus_ = std::make_unique<Context>();
    }
    gemm(*gpus_, call);
  }

  std::mutex mutex_;  // of the members
  std::map<int, std::unique_ptr<HostProducts>> hosts_;
  std::unique_ptr<Context> gpus_;
};

void multiply(const Input& a, const Input& b, const Output& c, double alpha, double beta,
              int threads) {
  if (threads < 1) throw out_of_range("threads", std::to_string(threads), "at least 1");
  const Product product = product_of(a, b, c, alpha, beta);
  const nb::gil_scoped_release unlocked;
  Multipliers::get().multiply(product, threads);
}

}  // namespace

void add_product(nb::module_& module) { module.def("multiply", multiply); }

}  // namespace tilerail::python
