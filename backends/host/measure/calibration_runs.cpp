#include "backends/host/measure/calibration_runs.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "backends/host/measure/host_machine.hpp"
#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
#include "plan/builder.hpp"

namespace tilerail::host {
namespace {

constexpr int64_t bytes_in_rotation = 16 << 20;  // operands of one queue
constexpr int products_of_a_tile =
    8;  // square products for each tile of C, like the k loop of a plan
constexpr size_t least_batches = 5;
constexpr MemoryId host_memory{0};
constexpr int64_t matrix_columns = 2048;
constexpr BufferId matrix_a{0}, matrix_c{2};

/// The number of operand sets, of `bytes` each, that a queue rotates through.
int sets(int64_t bytes) {
  return int(std::clamp<int64_t>(bytes_in_rotation / bytes, 1, 64));
}

/// The i-th of the disjoint rows x cols views of a matrix, modulo their number.
View piece(BufferId matrix, int64_t i, int64_t rows, int64_t cols) {
  const int64_t down = CalibrationRuns::matrix_rows / rows,
                across = matrix_columns / cols;
  return {matrix, i % down * rows, i / down % across * cols, rows, cols};
}

/// A problem with all matrices on the host, of the same size for all figures.
GemmProblem problem_of(DType dtype) {
  GemmProblem problem;
  problem.m = CalibrationRuns::matrix_rows;
  problem.n = problem.k = matrix_columns;
  problem.dtype = dtype;
  return problem;
}

/// A plan on the problem's matrices and on packed tiles, which are contiguous in each
/// memory.
class TilePlan {
 public:
  TilePlan(const Topology& topology, const GemmProblem& problem)
      : plan{empty_plan(checked(problem), topology)} {
    plan.policy = "by-hand";
    plan.devices = topology.gpus();
    for (const TensorId tensor : {tensor_a, tensor_b, tensor_c})
      builder.add_tensor(tensor);
  }

  View tile(MemoryId memory, int64_t rows, int64_t cols) {
    constexpr int64_t alignment = 64;
    int64_t& peak = plan.peak_bytes[memory.index()];
    const Buffer tile{.tensor = tensor_c,
                      .dtype = plan.dtype(),
                      .memory = memory,
                      .rows = rows,
                      .cols = cols,
                      .ld = rows,
                      .offset = peak};
    peak += ceil_div(rows * cols * tile.element(), alignment) * alignment;
    return {builder.add_buffer(tile), 0, 0, rows, cols};
  }
  OpId add(OpKind kind, QueueId queue, const Operands& operands,
           Scalar beta = Scalar::zero, Deps deps = {}) {
    return builder.add({.kind = kind, .beta = beta, .queue = queue}, operands, deps);
  }
  void copy(QueueId queue, const View& from, const View& to) {
    add(OpKind::copy, queue, {from, to});
  }

  Plan plan;
  PlanBuilder builder{plan};
};

}  // namespace

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

CalibrationRuns::CalibrationRuns(int devices, int workers, double run_seconds)
    : devices_{devices},
      workers_{workers},
      run_seconds_{run_seconds},
      executor_{Topology{host_machine(devices, workers)}},
      doubles_{matrix_rows, matrix_columns, matrix_rows, DType::f64, 1},
      floats_{matrix_rows, matrix_columns, matrix_rows, DType::f32, 2},
      sink_{matrix_rows, matrix_columns, matrix_rows, DType::f64, 3} {}

MemoryId CalibrationRuns::gpu(int queue) const {
  return executor_.topology().gpus()[size_t(queue % devices_)];
}

/// Mean time of an operation: the time of each queue from its first start to its last
/// end, divided by the number of its operations.
double CalibrationRuns::run(const Draft& draft) {
  const Plan& plan = draft.plan;
  void* operands = plan.dtype() == DType::f64 ? doubles_.data() : floats_.data();
  executor_.set_matrices({operands, operands, sink_.data()});
  const Timeline timeline = executor_.execute(plan);
  std::vector<std::optional<double>> first_start(plan.queues.size());
  std::vector<double> last_end(plan.queues.size(), 0);
  for (size_t i = draft.first; i < plan.ops.size(); ++i) {
    const size_t queue = plan.ops[i].queue.index();
    if (!first_start[queue]) first_start[queue] = timeline.ops[i].start;
    last_end[queue] = timeline.ops[i].end;
  }
  double busy = 0;
  for (const auto queue : indices(last_end)) {
    if (first_start[queue]) busy += last_end[queue] - *first_start[queue];
  }
  return busy / double(plan.ops.size() - draft.first);
}

size_t CalibrationRuns::add(const std::function<Draft(int count)>& draft) {
  run(draft(1));
  const double each = run(draft(1));
  const int count = int(std::clamp(run_seconds_ / std::max(each, 1e-7), 1.0, 2000.0));
  figures_.push_back({draft(count), {each}, true});
  return figures_.size() - 1;
}

void CalibrationRuns::measure(double seconds, const std::function<double()>& clock) {
  const double end = clock() + seconds;
  bool unsettled = true;
  for (int round = 0; unsettled && (round == 0 || clock() < end); ++round) {
    unsettled = false;
    for (Figure& figure : figures_) {
      if (std::exchange(figure.warm_up, false)) figure.batch_means.clear();
      const SampleMean so_far =
          figure.batch_means.empty() ? SampleMean{} : mean_of(figure.batch_means);
      if (so_far.count >= least_batches && so_far.half_width <= target_half_width)
        continue;
      if (round > 0 && clock() > end) return;
      unsettled = true;
      figure.batch_means.push_back(run(figure.draft));
    }
  }
}

size_t CalibrationRuns::add_gemm(int64_t s, int64_t k, DType dtype) {
  return add([&](int count) { return gemm_draft(s, k, dtype, count); });
}

/// Tiles are filled with random numbers first; then every worker multiplies in its own
/// queue.
CalibrationRuns::Draft CalibrationRuns::gemm_draft(int64_t s, int64_t k, DType dtype,
                                                   int count) const {
  TilePlan draft{executor_.topology(), problem_of(dtype)};
  struct Operands {
    View a, b, c;
  };
  std::vector<Operands> operands;
  Deps filled;
  const int rotation = std::min(sets((2 * s * k + s * s) * element_size(dtype)), count);
  for (int i = 0; i < rotation * all_workers(); ++i) {
    const MemoryId device = gpu(i % all_workers());
    operands.push_back(
        {draft.tile(device, s, k), draft.tile(device, k, s), draft.tile(device, s, s)});
    for (const View& tile : {operands.back().a, operands.back().b, operands.back().c}) {
      const QueueId fill = draft.builder.copy_queue(host_memory, device);
      filled.after(draft.add(OpKind::copy, fill,
                             {piece(matrix_a, 0, tile.rows, tile.cols), tile}));
    }
  }
  const QueueId joins = draft.builder.copy_queue(host_memory, gpu(0));
  const OpId ready = draft.add(OpKind::join, joins, {}, Scalar::zero, filled);
  const int products =
      k == s ? products_of_a_tile : 1;  // a thin product has a tile of its own
  const size_t first = draft.plan.ops.size();
  for (int i = 0; i < count; ++i) {
    for (int w = 0; w < all_workers(); ++w) {
      const auto turn = [&](int number) {
        return size_t(int64_t{number} % rotation * all_workers() + w);
      };
      const Operands& factors = operands[turn(i)];
      draft.add(OpKind::gemm, draft.builder.compute_queue(gpu(w), w / devices_),
                {factors.a, factors.b, operands[turn(i / products)].c}, Scalar::one,
                Deps{}.after(ready));
    }
  }
  return {std::move(draft.plan), first};
}

size_t CalibrationRuns::add_axpby(int64_t s) {
  return add([&](int count) { return axpby_draft(s, count); });
}

CalibrationRuns::Draft CalibrationRuns::axpby_draft(int64_t s, int count) const {
  GemmProblem problem = problem_of(DType::f64);
  problem.beta = 0.5;
  TilePlan draft{executor_.topology(), problem};
  const int rotation = sets(2 * s * s * element_size(DType::f64));
  std::vector<View> x, y;
  for (int i = 0; i < rotation * all_workers(); ++i) {
    x.push_back(draft.tile(gpu(i % all_workers()), s, s));
    y.push_back(draft.tile(gpu(i % all_workers()), s, s));
  }
  for (int i = 0; i < count; ++i) {
    for (int w = 0; w < all_workers(); ++w) {
      const auto tile = size_t(int64_t{i} % rotation * all_workers() + w);
      draft.add(OpKind::axpby, draft.builder.compute_queue(gpu(w), w / devices_),
                {x[tile], y[tile]}, Scalar::beta);
    }
  }
  return {std::move(draft.plan), 0};
}

size_t CalibrationRuns::add_copy(CopyRole role, int64_t rows, int64_t cols, int at_once) {
  return add([&](int count) { return copy_draft(role, rows, cols, at_once, count); });
}

CalibrationRuns::Draft CalibrationRuns::copy_draft(CopyRole role, int64_t rows,
                                                   int64_t cols, int at_once,
                                                   int count) const {
  TilePlan draft{executor_.topology(), problem_of(DType::f64)};
  const int rotation = sets(rows * cols * element_size(DType::f64));
  std::vector<View> near, far;  // tiles on the queue's device and on the next device
  for (int i = 0; i < rotation * at_once; ++i) {
    near.push_back(draft.tile(gpu(i % at_once), rows, cols));
    if (role == CopyRole::peer)
      far.push_back(draft.tile(gpu(i % at_once + 1), rows, cols));
  }
  for (int i = 0; i < count * at_once; ++i) {
    const int q = i % at_once, index = q / devices_, turn = i % (rotation * at_once);
    const View& tile = near[size_t(turn)];
    if (role == CopyRole::h2d) {
      draft.copy(draft.builder.copy_queue(host_memory, gpu(q), index),
                 piece(matrix_a, turn, rows, cols), tile);
    } else if (role == CopyRole::d2h) {
      draft.copy(draft.builder.copy_queue(gpu(q), host_memory, index), tile,
                 piece(matrix_c, turn, rows, cols));
    } else {
      draft.copy(draft.builder.copy_queue(gpu(q), gpu(q + 1), index), tile,
                 far[size_t(turn)]);
    }
  }
  return {std::move(draft.plan), 0};
}

}  // namespace tilerail::host
