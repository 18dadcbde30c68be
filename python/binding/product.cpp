#include <fmt/format.h>
#include <pthread.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/shared_cache.hpp"
#include "api/signature.hpp"
#include "backends/host/measure/host_machine.hpp"
#include "backends/host/run/host_executor.hpp"
#include "model/base/error.hpp"
#include "python/binding/arrays.hpp"
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
  void multiply(const GemmProblem& problem, const Matrices& matrices) {
    const std::shared_ptr<Plan> plan = plan_of(problem);
    const std::lock_guard lock{mutex_};
    plan->gemm().alpha = problem.alpha, plan->gemm().beta = problem.beta;
    executor_.set_matrices(matrices);
    executor_.execute(*plan);
  }

  void prepare(const GemmProblem& problem) { plan_of(problem); }

 private:
  std::shared_ptr<Plan> plan_of(GemmProblem problem) {
    problem.place_a = problem.place_b = problem.place_c = machine_.hosts()[0];
    return plans_.get(api::signature_of(problem, {}, {}), [&] {
      Policy policy = any_preset("tilerail");
      policy.effort = Effort::fast;
      policy.device_choice = DeviceChoice::all;
      return std::make_shared<Plan>(
          plan_gemm(problem, machine_, machine_.hosts(), policy));
    });
  }

  static constexpr size_t most_plans = 64;
  Topology machine_;
  api::SharedCache<api::Signature, std::shared_ptr<Plan>> plans_{most_plans};
  HostExecutor executor_;
  std::mutex mutex_;  // of the executor, and of the plans' alpha and beta
};

/// The product C = alpha A B + beta C of arrays as one of column-major matrices: if the
/// rows of C are contiguous, of the transposes.
struct Product {
  GemmProblem problem;
  std::array<Stored, 3> matrices;
};

std::string shape_text(const std::array<int64_t, 2>& shape) {
  return fmt::format("{} x {}", shape[0], shape[1]);
}

void require_shapes(const Array& a, const Array& b, const Array& c) {
  const auto [m, k] = a.shape;
  if (b.shape[0] != k)
    throw InputError{"B", shape_text(b.shape), "is its shape",
                     fmt::format("the {} rows that A has columns", k)};
  const std::array shape{m, b.shape[1]};
  if (c.shape != shape)
    throw InputError{"C", shape_text(c.shape), "is its shape", shape_text(shape)};
  if (a.dtype != c.dtype || b.dtype != c.dtype)
    throw fault_of("A, B, C", "have different types", "one type");
}

Product product_of(const Array& a, const Array& b, const Array& c, double alpha,
                   double beta) {
  require_shapes(a, b, c);
  Stored of_a = stored(a, "A"), of_b = stored(b, "B");
  const Stored of_c = stored(c, "C");
  Product product;
  GemmProblem& p = product.problem;
  p.dtype = c.dtype;
  for (const Stored* input : {&of_a, &of_b})
    if (overlap(*input, of_c, element_size(p.dtype)))
      throw fault_of("C", "overlaps A or B", "memory of its own");
  p.m = of_c.rows, p.n = of_c.cols, p.k = a.shape[1];
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
    static auto* all = new Multipliers;  // its threads outlive the interpreter
    // Threads do not survive a fork: the child creates a new object and leaks the copy.
    [[maybe_unused]] static const int forks =
        pthread_atfork(nullptr, nullptr, [] { all = new Multipliers; });
    return *all;
  }

  void multiply(const Product& product, int threads, void* stream) {
    const auto& [a, b, c] = product.matrices;
    const GemmProblem problem = checked(product.problem);
    if (a.on_gpu || b.on_gpu || c.on_gpu) return on_gpus(product, stream);
    Matrices matrices;
    matrices.a = a.data, matrices.b = b.data, matrices.c = c.data;
    on_host(threads)->multiply(problem, matrices);
  }

  /// Makes the plan, or opens the GPUs.
  void prepare(const Product& product, int threads) {
    const auto& [a, b, c] = product.matrices;
    const GemmProblem problem = checked(product.problem);
    if (a.on_gpu || b.on_gpu || c.on_gpu)
      opened().reserve(1);
    else
      on_host(threads)->prepare(problem);
  }

 private:
  /// Keeps only the last pool of threads; running calls keep theirs.
  std::shared_ptr<HostProducts> on_host(int threads) {
    const std::lock_guard lock{mutex_};
    if (!host_ || threads_ != threads) host_ = std::make_shared<HostProducts>(threads);
    threads_ = threads;
    return host_;
  }

  Context& opened() {
    const std::lock_guard lock{mutex_};
    if (gpus_) return *gpus_;
    auto gpus = std::make_unique<Context>();
    gpus->set_plan_cache("");  // the environment's is ignored
    gpus_ = std::move(gpus);
    return *gpus_;
  }

  void on_gpus(const Product& product, void* stream) {
    const GemmProblem& p = product.problem;
    const auto& [a, b, c] = product.matrices;
    GemmArguments call{p.dtype};
    call.trans_a = to_string(p.trans_a).front(),
    call.trans_b = to_string(p.trans_b).front();
    call.m = p.m, call.n = p.n, call.k = p.k, call.alpha = p.alpha, call.beta = p.beta;
    call.a = a.data, call.lda = p.lda, call.b = b.data, call.ldb = p.ldb;
    call.c = c.data, call.ldc = p.ldc;
    GemmOptions options;
    options.stream = stream;
    gemm(opened(), call, options);
  }

  std::mutex mutex_;  // of the members
  std::shared_ptr<HostProducts> host_;
  int threads_ = 0;  // of it
  std::unique_ptr<Context> gpus_;
};

/// Calls `work` with the product, without the GIL.
void with_product(nb::handle a, nb::handle b, nb::handle c, double alpha, double beta,
                  const std::function<void(const Product&)>& work) {
  const Array of_a = array_of(a, "A", false), of_b = array_of(b, "B", false),
              of_c = array_of(c, "C", true);
  const Product product = product_of(of_a, of_b, of_c, alpha, beta);
  const nb::gil_scoped_release unlocked;
  work(product);
}

/// `stream`: a cudaStream_t, or 0.
void multiply(nb::handle a, nb::handle b, nb::handle c, double alpha, double beta,
              int threads, uintptr_t stream) {
  with_product(a, b, c, alpha, beta, [&](const Product& product) {
    Multipliers::get().multiply(product, threads, reinterpret_cast<void*>(stream));
  });
}

void prepare(nb::handle a, nb::handle b, nb::handle c, double alpha, double beta,
             int threads) {
  with_product(a, b, c, alpha, beta, [&](const Product& product) {
    Multipliers::get().prepare(product, threads);
  });
}

}  // namespace

void add_product(nb::module_& module) {
  module.def("multiply", multiply);
  module.def("prepare", prepare);
}

}  // namespace tilerail::python
