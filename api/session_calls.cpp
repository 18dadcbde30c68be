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
#include "sched/tasks/arena.hpp"

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
  const auto caller = hardware_->keep_caller_state();
  matrix.location = hardware_->locate(data);
  lanes_.finish(true);  // a run may be writing it
  hardware_->wait_for_caller(nullptr, {matrix});
  change([&](Settings& settings) { settings.kept.drop(matrix); });
  const int64_t of_copies = Arena::leading(rows, element);  // the same as of tiles
  const auto now = settings();
  lanes_.hold_with_memory();  // leaves memory to the copies
  const auto copies = hardware_->copies_on(users(*now), matrix, of_copies);
  change([&](Settings& settings) {
    settings.kept.add(matrix, of_copies, now->devices, copies);
  });
}

void Session::release(const void* data) {
  const auto caller = hardware_->keep_caller_state();
  after_runs([&] { change([&](Settings& settings) { settings.kept.release(data); }); });
}

/// If C's GPU has both inputs, they are read there: such a call is usually one kernel.
/// Otherwise each GPU reads its copy, even of an input whose original is on C's GPU.
Copies Session::take_kept(const Settings& settings, Matrices& matrices,
                          GemmProblem& problem) const {
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
    if (input.matrix.used())
      input.kept = settings.kept.part(input.matrix, settings.devices);
    there = there && (input.at_home || (input.kept && input.kept->on(home)));
  }
  for (Input& input : inputs) {
    if (!input.kept || (there && input.at_home)) continue;
    const auto [gpu, data] = there ? *input.kept->on(home) : input.kept->copies.front();
    input.place = there ? Layout{gpu} : Layout::replicated(topology_.gpus());
    input.ld = input.matrix.ld = input.kept->ld;
    input.matrix.data = data, input.matrix.location = topology_.processor(gpu).device;
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

Session::CachedPlan::CachedPlan(PlannedCall planned, bool in_first_lane)
    : call{std::move(planned)},
      single_kernel{is_single_kernel(call.plan)},
      first_lane{in_first_lane} {}

/// Binding fails if other programs, or other lanes, have taken memory of a GPU.
/// Allocation shows how much of the rest is contiguous.
void Session::execute_in_first_lane(const Call& call, const Signature& signature,
                                    const CachedPlan& plan) {
  const Settings& now = *call.settings;
  now.plans->erase(signature);
  Lanes::Hold lane = lanes_.hold_with_memory();
  const auto execute_bound = [&](PlannedCall planned) {
    auto made = std::make_shared<CachedPlan>(std::move(planned), true);
    made->bound.front() = lane->lane->bind(made->call.plan);
    now.plans->get(signature, [&] { return made; });
    call.times.planned = true;
    execute(call, *made, *lane);
  };
  try {
    return execute_bound(plan.call);
  } catch (const MemoryShortage&) {
  }
  std::exception_ptr first;
  for (const int share : {1, 2, 4, 8}) {
    const auto room = [&](MemoryId gpu, int streams) {
      return lane->lane->room_for_tiles(gpu, streams) / share;
    };
    try {
      return execute_bound(
          planner_.plan_within(room, plannable(call.problem), now.devices, now.policy));
    } catch (const MemoryShortage&) {
      if (!first) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

std::vector<int> Session::users(const Settings& settings) const {
  std::vector<int> numbers;
  for (const MemoryId gpu : settings.devices)
    numbers.push_back(topology_.processor(gpu).device);
  return numbers;
}

RunSeconds Session::run(const Call& call, const CachedPlan& plan, Lanes::Slot& lane) {
  BoundPlan& bound = *plan.bound[lane.number];
  const auto access = [&] {
    return lane.lane->access(bound, call.matrices, users(*call.settings),
                             call.settings->pageable);
  };
  if (call.times.handed_over) {
    const RunSeconds seconds = lane.lane->submit(bound, call.options.stream, *access(),
                                                 call.matrices, call.copies);
    lanes_.add_pending(lane, call.settings);
    return seconds;
  }
  lanes_.finish(lane);  // runs of this thread may write the inputs of this run
  if (plan.single_kernel)
    return lane.lane->run_single(bound, call.options.stream, call.matrices);
  Timer timer;
  const auto opened = access();
  call.times.memory = timer.seconds();
  const RunSeconds seconds = lane.lane->run(bound, *opened, call.copies);
  timer = {};
  opened->finish();
  call.times.memory += timer.seconds();
  return seconds;
}

void Session::execute(const Call& call, CachedPlan& plan, Lanes::Slot& lane) {
  if (call.options.plan) *call.options.plan = plan.call.info;
  const Timer timer;
  auto& bound = plan.bound[lane.number];
  if (!bound) bound = lane.lane->bind(plan.call.plan);
  bound->set_scalars(call.problem.alpha, call.problem.beta);
  call.times.plan += timer.seconds();
  const RunSeconds seconds = run(call, plan, lane);
  call.times.run = seconds.run, call.times.issue = seconds.issue;
}

void Session::synchronize() {
  const auto caller = hardware_->keep_caller_state();
  lanes_.finish(true);
}

void Session::gemm(const GemmArguments& arguments, const GemmOptions& options) {
  GemmTimes ignored;
  GemmTimes& times = options.times ? *options.times : ignored;
  times = {};
  if (options.plan) *options.plan = {};
  if (const auto defect = first_defect(arguments))
    throw ArgumentError{defect->position, defect->message};
  const auto caller = hardware_->keep_caller_state();
  if (has_no_work(arguments)) {
    if (options.wait) lanes_.finish(false);  // earlier asynchronous calls
    return;
  }
  if (!options.wait) hardware_->refuse_captured(options.stream);
  GemmProblem problem = problem_of(arguments);
  Matrices matrices = located(arguments, problem);
  const auto now = settings();
  if (now->kept.overlaps(matrices[2]))
    throw fault_of("matrix C", "lies in a matrix that is kept", "it to be released");
  problem.place_c = place(matrices[2], "C");
  problem.place_a = matrices[0].used() ? place(matrices[0], "A") : problem.place_c;
  problem.place_b = matrices[1].used() ? place(matrices[1], "B") : problem.place_c;
  const Copies copies = take_kept(*now, matrices, problem);
  const Call call{now, problem, matrices, copies, options, times};

  const Timer timer;
  const Signature signature = signature_of(problem, now->devices, now->policy_name);
  const auto plan = now->plans->get(signature, [&] {
    times.planned = true;
    return std::make_shared<CachedPlan>(
        planner_.plan(plannable(problem), now->devices, now->policy, *now->tuned));
  });
  times.plan = timer.seconds();
  times.handed_over =
      !options.wait && (plan->single_kernel || hardware_->page_locked(matrices));
  if (!times.handed_over && !plan->single_kernel)
    hardware_->wait_for_caller(options.stream, matrices);
  try {
    execute(call, *plan, *lanes_.hold(plan->first_lane));
  } catch (const MemoryShortage&) {  // nothing has run
    execute_in_first_lane(call, signature, *plan);
  }
}

}  // namespace tilerail::api
