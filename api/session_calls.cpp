// The calls of a session: places of their matrices, their plans, and kept state.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "api/session.hpp"
#include "api/single_gpu.hpp"
#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "model/base/memory_shortage.hpp"
#include "model/base/timer.hpp"

namespace tilerail::api {
namespace {

/// As in BLAS, scalars can be any number. The plan depends only on which scalars are 0.
GemmProblem plannable(GemmProblem problem) {
  for (double* scalar : {&problem.alpha, &problem.beta})
    if (!std::isfinite(*scalar)) *scalar = 2;
  return problem;
}

}  // namespace

void Session::keep(const void* data, int64_t rows, int64_t cols, int64_t ld,
                   int64_t element) {
  if (data == nullptr) throw fault_of("matrix to keep", "is null", "an address");
  if (rows < 1 || cols < 1 || ld < rows || rows > most_extent || cols > most_extent ||
      ld > most_extent)
    throw out_of_range(
        "matrix to keep",
        fmt::format("{} x {} elements with leading dimension {}", rows, cols, ld),
        "1 row and 1 column or more, and a leading dimension of at least the rows");
  if (ld > most_matrix_bytes / element / cols)
    throw out_of_range("matrix to keep",
                       fmt::format("leading dimension {} times {} columns", ld, cols),
                       "at most 2^60 bytes");
  Matrix matrix{const_cast<void*>(data), rows, cols, ld, element, true, false};
  const auto entry = enter();
  matrix.location = hardware_->locate(data);
  hardware_->synchronize();  // a run may be writing it
  hardware_->wait_for_caller(nullptr, {matrix});
  kept_.keep(*hardware_, matrix, devices_);
}

void Session::release(const void* data) {
  const auto entry = enter();
  after_runs([&] { kept_.release(data); });
}

/// If C's GPU has both inputs, they are read there: such a call is usually one kernel.
/// Otherwise each GPU reads its copy, even of an input whose original is on C's GPU.
Copies Session::take_kept(Matrices& matrices, GemmProblem& problem) const {
  struct Input {
    Matrix& matrix;
    Layout& place;
    int64_t& ld;
    bool at_home = false;  // the original is on C's GPU
    std::vector<tilerail::Matrices::Copy> copies = {};
    std::optional<KeptMatrices::Part> kept = {};
  };
  std::array inputs{Input{matrices[0], problem.place_a, problem.lda},
                    Input{matrices[1], problem.place_b, problem.ldb}};
  const MemoryId home = problem.place_c.home();
  const bool on_gpu = matrices[2].location.has_value();
  bool there = on_gpu;
  for (Input& input : inputs) {
    input.at_home = on_gpu && input.place.is_whole_in(home);
    if (input.matrix.used()) input.kept = kept_.part(input.matrix, devices_);
    there = there && (input.at_home || (input.kept && input.kept->on(home)));
  }
  for (Input& input : inputs) {
    if (!input.kept || (there && input.at_home)) continue;
    const auto [gpu, data] = there ? *input.kept->on(home) : input.kept->copies.front();
    input.place = there ? Layout{gpu} : Layout::replicated(topology_.gpus());
    input.ld = input.matrix.ld = input.kept->ld;
    input.matrix.data = data, input.matrix.location = topology_.memory(gpu).device;
    if (!input.place.is_whole()) input.copies = std::move(input.kept->copies);
  }
  return {std::move(inputs[0].copies), std::move(inputs[1].copies)};
}

MemoryId Session::place(const Matrix& matrix, const char* name) const {
  if (!matrix.location) return topology_.hosts().front();
  const auto gpu = topology_.find_gpu(*matrix.location);
  if (!gpu)
    throw fault_of(
        fmt::format("matrix {}", name),
        fmt::format("lies on CUDA device {}, which machine '{}' does not describe",
                    *matrix.location, topology_.name()));
  return *gpu;
}

Matrices Session::located(const GemmArguments& x, const GemmProblem& p) const {
  const int64_t element = element_size(p.dtype);
  const bool inputs = !scales_only(x);
  Matrices matrices{{
      {inputs ? const_cast<void*>(x.a) : nullptr, p.rows_a(), p.cols_a(), p.lda, element,
       true, false},
      {inputs ? const_cast<void*>(x.b) : nullptr, p.rows_b(), p.cols_b(), p.ldb, element,
       true, false},
      {x.c, p.m, p.n, p.ldc, element, p.beta != 0, true},
  }};
  for (Matrix& matrix : matrices)
    if (matrix.used()) matrix.location = hardware_->locate(matrix.data);
  return matrices;
}

/// Binding fails if other programs have taken memory of a GPU. Allocation shows how much
/// of the rest is contiguous.
Session::CachedPlan Session::bound(const GemmProblem& problem) {
  const auto bind = [&](PlannedCall call) -> CachedPlan {
    const bool single = is_single_kernel(call.plan);
    return {hardware_->bind(call.plan), std::move(call.info), single};
  };
  try {
    return bind(planner_.plan(problem, devices_, policy_));
  } catch (const MemoryShortage&) {
  }
  std::exception_ptr first;
  for (const int share : {1, 2, 4, 8}) {
    const auto room = [&](MemoryId gpu, int streams) {
      return hardware_->room_for_tiles(gpu, streams) / share;
    };
    try {
      return bind(planner_.plan_within(room, problem, devices_, policy_));
    } catch (const MemoryShortage&) {
      if (!first) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

Session::CachedPlan& Session::plan_for(const GemmProblem& problem, GemmTimes& times) {
  const Signature signature = signature_of(problem, devices_, policy_name_);
  if (CachedPlan* cached = plans_.find(signature)) return *cached;
  times.planned = true;
  return plans_.insert(signature, bound(plannable(problem)));
}

std::vector<int> Session::users() const {
  std::vector<int> numbers;
  for (const MemoryId gpu : devices_) numbers.push_back(topology_.memory(gpu).device);
  return numbers;
}

RunSeconds Session::run(CachedPlan& cached, void* stream, const Matrices& matrices,
                        const Copies& copies, GemmTimes& times) {
  if (cached.single_kernel) return hardware_->run_single(*cached.bound, stream, matrices);
  hardware_->synchronize();  // submitted runs may write the inputs of this run
  hardware_->wait_for_caller(stream, matrices);
  Timer timer;
  const auto access = hardware_->access(*cached.bound, matrices, users(), pageable_);
  times.memory = timer.seconds();
  const RunSeconds seconds = hardware_->run(*cached.bound, *access, copies);
  timer = {};
  access->finish();
  times.memory += timer.seconds();
  return seconds;
}

RunSeconds Session::submit(CachedPlan& cached, void* stream, const Matrices& matrices,
                           const Copies& copies) {
  const auto access = hardware_->access(*cached.bound, matrices, users(), pageable_);
  return hardware_->submit(*cached.bound, stream, *access, matrices, copies);
}

void Session::synchronize() {
  const auto entry = enter();
  hardware_->synchronize();
}

void Session::gemm(const GemmArguments& arguments, const GemmOptions& options) {
  GemmTimes ignored;
  GemmTimes& times = options.times ? *options.times : ignored;
  times = {};
  if (options.plan) *options.plan = {};
  if (const auto defect = first_defect(arguments))
    throw ArgumentError{defect->position, defect->message};
  if (has_no_work(arguments)) {
    if (options.wait) synchronize();  // earlier asynchronous calls
    return;
  }
  GemmProblem problem = problem_of(arguments);

  const auto entry = enter();
  if (!options.wait) hardware_->refuse_captured(options.stream);
  Matrices matrices = located(arguments, problem);
  if (kept_.overlaps(matrices[2]))
    throw fault_of("matrix C", "lies in a matrix that is kept", "it to be released");
  problem.place_c = place(matrices[2], "C");
  problem.place_a = matrices[0].used() ? place(matrices[0], "A") : problem.place_c;
  problem.place_b = matrices[1].used() ? place(matrices[1], "B") : problem.place_c;
  const Copies copies = take_kept(matrices, problem);

  try {
    call(problem, matrices, copies, options, times);
  } catch (const MemoryShortage&) {  // nothing has run: the memory of an earlier plan is
                                     // gone
    if (times.planned) throw;
    plans_.erase(signature_of(problem, devices_, policy_name_));
    call(problem, matrices, copies, options, times);
  }
}

void Session::call(const GemmProblem& problem, const Matrices& matrices,
                   const Copies& copies, const GemmOptions& options, GemmTimes& times) {
  const Timer timer;
  CachedPlan& cached = plan_for(problem, times);
  if (options.plan) *options.plan = cached.info;
  cached.bound->set_scalars(problem.alpha, problem.beta);
  times.plan = timer.seconds();
  const bool hand_over =
      !options.wait && (cached.single_kernel || hardware_->page_locked(matrices));
  const RunSeconds seconds = hand_over
                                 ? submit(cached, options.stream, matrices, copies)
                                 : run(cached, options.stream, matrices, copies, times);
  times.run = seconds.run, times.issue = seconds.issue, times.handed_over = hand_over;
}

}  // namespace tilerail::api
