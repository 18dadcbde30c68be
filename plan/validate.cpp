#include "plan/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
#include "model/machine/spread_memories.hpp"
#include "plan/builder.hpp"
#include "plan/memory_needs.hpp"
#include "plan/shared_streams.hpp"

namespace tilerail {
namespace {

/// Keeps the place of what is being looked at, so that every message names it.
class Checker {
 public:
  explicit Checker(const Plan& plan) : plan_{plan} {}

  void run() {
    problem();
    sizes();
    for (const auto i : indices(plan_.queues)) queue(i);
    for (const auto i : indices(plan_.buffers)) buffer(i);
    for (const auto i : indices(plan_.ops)) op(i);
  }

 private:
  /// Texts are put together only for a plan that fails: a million operations are checked in a blink.
  [[noreturn]] void fail(std::string_view what) const { throw fault_of("plan", fmt::format("{}: {}", place(), what)); }
  void require(bool holds, std::string_view what) const {
    if (!holds) fail(what);
  }

  /// BLAS takes any alpha and beta: where one is not finite, C will not be.
  void problem() const {
    GemmProblem sound = plan_.problem;
    for (double* scalar : {&sound.alpha, &sound.beta})
      if (!std::isfinite(*scalar)) *scalar = 1;
    checked(sound);
  }

  std::string place() const { return index_ ? fmt::format("{} {}", kind_, *index_) : kind_; }
  bool is_memory(MemoryId id) const { return id.value >= 0 && id.index() < plan_.memories.size(); }

  void sizes() {
    kind_ = "header", index_.reset();
    constexpr size_t limit = size_t{1} << 31;
    require(plan_.ops.size() < limit && plan_.deps.size() < limit, "more than 2^31 operations or dependencies");
    require(plan_.dep_begin.size() == plan_.ops.size() + 1, "dep_begin must have one entry more than ops");
    require(plan_.dep_begin.front() == 0 && plan_.dep_begin.back() == plan_.deps.size(),
            "dep_begin must run from 0 to the number of dependencies");
    require(std::ranges::is_sorted(plan_.dep_begin), "dep_begin must ascend");
    require(plan_.peak_bytes.size() == plan_.memories.size(), "peak_bytes must have one entry for each memory");
    for (const int64_t bytes : plan_.peak_bytes)
      require(bytes >= 0 && bytes <= most_matrix_bytes, "peak_bytes must be 0 to 2^60");
    for (const auto* gpus : {&plan_.devices, &plan_.origin.given})
      for (const MemoryId gpu : *gpus) require(is_memory(gpu), "devices must be memories of the plan");
    for (const MemoryId place : {plan_.problem.place_a, plan_.problem.place_b, plan_.problem.place_c})
      require(is_memory(place), "matrices must be placed in memories of the plan");
    given();
  }

  /// The bound that a plan is compared with is that of these GPUs.
  void given() const {
    const std::vector<MemoryId>& all = plan_.origin.given;
    each_once(plan_.devices, "/devices"), each_once(all, "/origin/given");
    for (const MemoryId gpu : plan_.devices)
      if (!all.empty() && std::ranges::find(all, gpu) == all.end())
        fail(fmt::format("/origin/given: lacks memory {} of /devices; expected all of them", gpu.value));
  }

  void each_once(const std::vector<MemoryId>& gpus, const char* field) const {
    for (auto gpu = gpus.begin(); gpu != gpus.end(); ++gpu)
      if (std::find(gpus.begin(), gpu, *gpu) != gpu)
        fail(fmt::format("{}: names memory {} twice; expected each GPU once", field, gpu->value));
  }

  void queue(size_t i) {
    kind_ = "queue", index_ = i;
    const Queue& q = plan_.queues[i];
    require(is_memory(q.src) && is_memory(q.dst), "memory out of range");
    require(q.kind == Queue::Kind::copy || q.src == q.dst, "a compute queue belongs to one GPU");
    require(q.index >= 0, "index must not be negative");
    const bool known = q.kind == Queue::Kind::copy || std::ranges::find(plan_.devices, q.dst) != plan_.devices.end();
    require(known, "a compute queue's GPU must be one of the plan's devices");
    require(queues_.emplace(q.kind, q.src, q.dst, q.index).second, "the same queue is there twice");
  }

  void buffer(size_t i) {
    kind_ = "buffer", index_ = i;
    const Buffer& b = plan_.buffers[i];
    constexpr int64_t limit = most_extent;
    require(is_memory(b.memory), "memory out of range");
    require(b.rows >= 0 && b.cols >= 0 && b.rows <= limit && b.cols <= limit, "rows and cols must be 0 to 2^40");
    require(b.ld >= std::max<int64_t>(1, b.rows) && b.ld <= limit, "ld must be rows to 2^40");
    require(b.offset >= 0 && b.offset % b.element() == 0, "offset must be a multiple of the bytes of an element");
    if (b.kind != Buffer::Kind::tile) return matrix(b);
    require(b.cols == 0 || b.ld <= limit / b.cols, "a tile of more than 2^40 elements");
    const int64_t bytes = b.ld * b.cols * b.element();
    const int64_t peak = plan_.peak_bytes[b.memory.index()];
    if (bytes > peak || b.offset > peak - bytes)
      fail(fmt::format("a tile of {} bytes at {} lies outside the stated peak of {} bytes", bytes, b.offset, peak));
  }

  /// The machine knows which blocks there are: see require_fit.
  void matrix(const Buffer& b) {
    const Buffer whole = matrix_buffer(plan_.problem, b.kind);
    require(b.ld == whole.ld && b.dtype == whole.dtype,
            "leading dimension and type must be those of the problem's matrix");
    const int64_t first = b.offset / b.element(), row = first % b.ld, col = first / b.ld;
    if (row + b.rows > whole.rows || col + b.cols > whole.cols)
      fail(fmt::format("a block of {} x {} from ({}, {}) lies outside the problem's matrix of {} x {}", b.rows, b.cols,
                       row, col, whole.rows, whole.cols));
  }

  /// Executors count with the element size of the problem, whatever they read or write.
  void view(const View& v, const char* name) const {
    if (v.buffer.value < 0 || v.buffer.index() >= plan_.buffers.size())
      fail(fmt::format("{}: buffer {}: expected one of the plan's {}", name, v.buffer.value, plan_.buffers.size()));
    const Buffer& b = plan_.buffer(v.buffer);
    if (b.dtype != plan_.problem.dtype)
      fail(fmt::format("{}: buffer {} has type {}; expected {}, the type of the problem", name, v.buffer.value,
                       to_string(b.dtype), to_string(plan_.problem.dtype)));
    if (v.row < 0 || v.col < 0 || v.rows < 0 || v.cols < 0 || v.rows > b.rows || v.cols > b.cols ||
        v.row > b.rows - v.rows || v.col > b.cols - v.cols)
      fail(fmt::format("{}: view of {} x {} from ({}, {}) lies outside its buffer of {} x {}", name, v.rows, v.cols,
                       v.row, v.col, b.rows, b.cols));
  }

  MemoryId memory_of(const View& v) const { return plan_.buffer(v.buffer).memory; }

  void op(size_t i) {
    kind_ = "operation", index_ = i;
    const Op& o = plan_.ops[i];
    if (o.queue.value < 0 || o.queue.index() >= plan_.queues.size())
      fail(fmt::format("queue {}: expected one of the plan's {}", o.queue.value, plan_.queues.size()));
    for (const OpId dep : plan_.deps_of(OpId{i}))
      if (dep.value < 0 || dep.index() >= i) fail(fmt::format("depends on {}, which is not before it", dep.value));
    if (o.kind == OpKind::join) return;
    const Queue& q = plan_.queue(o.queue);
    o.kind == OpKind::copy ? copy(o, q) : kernel(o, q);
    writes(o);
  }

  void copy(const Op& o, const Queue& q) const {
    view(o.a, "source");
    view(o.y, "destination");
    require(o.a.rows == o.y.rows && o.a.cols == o.y.cols, "copies between views of different shapes");
    require(q.kind == Queue::Kind::copy && memory_of(o.a) == q.src && memory_of(o.y) == q.dst,
            "a copy must sit in a copy queue between the memories of its views");
  }

  void kernel(const Op& o, const Queue& q) const {
    if (o.kind == OpKind::axpby) {
      axpby(o, q);
    } else if (o.kind == OpKind::gemm) {
      gemm(o, q);
    } else {
      triangular(o, q);
    }
    if (info(o.kind).has_scalars) {
      scalar(o.alpha, "alpha");
      scalar(o.beta, "beta");
    }
    require(q.kind == Queue::Kind::compute && memory_of(o.y) == q.dst,
            "a kernel must sit in a compute queue of the memory it writes");
  }

  /// The caller's A and B stay as they are.
  void writes(const Op& o) const {
    const Buffer::Kind kind = plan_.buffer(o.y.buffer).kind;
    require(kind != Buffer::Kind::matrix_a && kind != Buffer::Kind::matrix_b, "writes to A or B, which are only read");
  }

  void scalar(Scalar named, const char* field) const {
    const bool zero = (named == Scalar::alpha || named == Scalar::beta) && plan_.value(named) == 0;
    if (zero) fail(fmt::format("{}: names a scalar of the problem that is 0; expected zero", field));
  }

  /// A view that is not read is still an address.
  void axpby(const Op& o, const Queue& q) const {
    view(o.y, "y"), view(o.a, "x");
    if (!reads_a(o)) return;
    require(o.a.rows == o.y.rows && o.a.cols == o.y.cols, "x and y have different shapes");
    require(memory_of(o.a) == q.dst, "x is not in the queue's memory");
  }

  /// potrf: y square. trsm: a square, of the columns of y. syrk: y square, of the rows of a.
  void triangular(const Op& o, const Queue& q) const {
    view(o.y, "y");
    require(o.kind == OpKind::trsm || o.y.rows == o.y.cols, "y is not square");
    if (o.kind == OpKind::potrf) return;
    view(o.a, "a");
    require(memory_of(o.a) == q.dst, "a is not in the queue's memory");
    require(o.kind == OpKind::trsm ? o.a.rows == o.a.cols && o.a.cols == o.y.cols : o.a.rows == o.y.rows,
            "shapes of a and y do not match");
  }

  void gemm(const Op& o, const Queue& q) const {
    view(o.a, "a"), view(o.b, "b"), view(o.y, "y");
    const bool ta = o.trans_a == Trans::yes, tb = o.trans_b == Trans::yes;
    const int64_t m = ta ? o.a.cols : o.a.rows, ka = ta ? o.a.rows : o.a.cols;
    const int64_t kb = tb ? o.b.cols : o.b.rows, n = tb ? o.b.rows : o.b.cols;
    require(m == o.y.rows && n == o.y.cols && ka == kb, "shapes of a, b and y do not match");
    require(memory_of(o.a) == q.dst && memory_of(o.b) == q.dst, "a or b is not in the queue's memory");
  }

  const Plan& plan_;
  const char* kind_ = "header";  // the place of what is being checked
  std::optional<size_t> index_;
  std::set<std::tuple<Queue::Kind, MemoryId, MemoryId, int>> queues_;  // so far
};

bool same_block(const Buffer& a, const Buffer& b) {
  return a.memory == b.memory && a.rows == b.rows && a.cols == b.cols && a.offset == b.offset;
}

/// Each matrix that has buffers has those of its place on this machine.
void require_blocks(const Plan& plan, const Topology& topology) {
  for (const auto& [kind, name] : {std::pair{Buffer::Kind::matrix_a, 'A'}, std::pair{Buffer::Kind::matrix_b, 'B'},
                                   std::pair{Buffer::Kind::matrix_c, 'C'}}) {
    std::vector<Buffer> there;
    for (const Buffer& buffer : plan.buffers)
      if (buffer.kind == kind) there.push_back(buffer);
    const MemoryId place = matrix_buffer(plan.problem, kind).memory;
    if (!there.empty() &&
        !std::ranges::equal(there, matrix_buffers(plan.problem, kind, topology, plan.devices), same_block))
      throw fault_of("plan", fmt::format("the buffers of {} are not those of a matrix of this shape in '{}' of '{}'",
                                         name, topology.memory(place).name, topology.name()));
  }
}

}  // namespace

void validate(const Plan& plan) { Checker{plan}.run(); }

namespace {

/// In how many memories there are, or else in the first that has another name.
std::string difference(const std::vector<std::string>& planned, const Topology& topology) {
  const std::vector<Memory>& there = topology.memories();
  if (planned.size() != there.size() && planned.size() != topology.sources())
    return fmt::format("{} of them in the plan, {} in the machine", planned.size(), topology.sources());
  size_t i = 0;
  while (planned[i] == there[i].name) ++i;
  return fmt::format("number {} is '{}' in the plan and '{}' in the machine", i, planned[i], there[i].name);
}

}  // namespace

bool names_memories_of(const Plan& plan, const Topology& topology) {
  const auto& memories = topology.memories();
  return (plan.memories.size() == memories.size() || plan.memories.size() == topology.sources()) &&
         std::equal(plan.memories.begin(), plan.memories.end(), memories.begin(),
                    [](const std::string& name, const Memory& memory) { return memory.name == name; });
}

void require_fit(const Plan& plan, const Topology& topology) {
  if (!names_memories_of(plan, topology))
    throw fault_of("plan", fmt::format("made for machine '{}', whose memories are not those of '{}': {}", plan.machine,
                                       topology.name(), difference(plan.memories, topology)));
  for (const Queue& q : plan.queues) {
    if (q.kind == Queue::Kind::compute && !topology.is_gpu(q.dst))
      throw fault_of("plan", fmt::format("a compute queue on '{}', which is not a GPU", topology.memory(q.dst).name));
    if (!topology.has_route(q.src, q.dst))
      throw fault_of("plan",
                     fmt::format("has copies from '{}' to '{}', between which machine '{}' has no route",
                                 topology.memory(q.src).name, topology.memory(q.dst).name, topology.name()),
                     "other devices or a link");
  }
  const auto copies = [&](MemoryId memory) { return topology.has_copies(memory); };
  if (std::ranges::any_of(plan.queues, [&](const Queue& q) { return copies(q.src) || copies(q.dst); }) ||
      std::ranges::any_of(plan.buffers, copies, &Buffer::memory))
    throw fault_of("plan", fmt::format("a queue or a buffer at '{}'", copies_name), "one of the GPUs");
  require_blocks(plan, topology);
  for (const auto* gpus : {&plan.devices, &plan.origin.given})
    for (const MemoryId gpu : *gpus)
      if (!topology.is_gpu(gpu))
        throw fault_of("plan", fmt::format("names '{}' as a GPU, which it is not", topology.memory(gpu).name));
  check_capacities(memory_needs(plan), topology, plan.devices, "plan");
}

void validate(const Plan& plan, const Topology& topology) {
  validate(plan);
  require_fit(plan, topology);
}

namespace {

bool is_empty(const View& v) { return v.rows == 0 || v.cols == 0; }

/// Views of tiles of one memory, from the first byte to the last: tiles are packed, so that the bytes between belong to
/// them, too. Views of one buffer as rectangles.
bool overlap(const Plan& plan, const View& x, const View& y) {
  if (is_empty(x) || is_empty(y)) return false;
  if (x.buffer == y.buffer)
    return x.row < y.row + y.rows && y.row < x.row + x.rows && x.col < y.col + y.cols && y.col < x.col + x.cols;
  const Buffer &of_x = plan.buffer(x.buffer), &of_y = plan.buffer(y.buffer);
  if (of_x.kind != Buffer::Kind::tile || of_y.kind != Buffer::Kind::tile || of_x.memory != of_y.memory) return false;
  const auto begin = [](const View& v, const Buffer& b) { return b.offset + (v.row + v.col * b.ld) * b.element(); };
  const auto bytes = [](const View& v, const Buffer& b) { return (v.rows + (v.cols - 1) * b.ld) * b.element(); };
  return begin(x, of_x) < begin(y, of_y) + bytes(y, of_y) && begin(y, of_y) < begin(x, of_x) + bytes(x, of_x);
}

/// A kernel or a copy may read an element after it has written a neighbour. Elements may be added to themselves.
bool overwrites_what_it_reads(const Plan& plan, const Op& op) {
  const bool to_itself =
      op.kind == OpKind::axpby && op.a.buffer == op.y.buffer && op.a.row == op.y.row && op.a.col == op.y.col;
  return (reads_a(op) && !to_itself && overlap(plan, op.a, op.y)) || (reads_b(op) && overlap(plan, op.b, op.y));
}

}  // namespace

void require_kernels(const Plan& plan) {
  if (plan.warm)
    throw fault_of("plan", "is warm: it reads tiles that an earlier call has left on GPUs, and is only simulated",
                   "warm=off");
  const auto known = [](const Op& op) { return info(op.kind).any_backend; };
  const auto unknown = std::ranges::find_if_not(plan.ops, known);
  if (unknown != plan.ops.end())
    throw fault_of(
        "plan",
        fmt::format("operation {}: '{}' has no kernel yet", unknown - plan.ops.begin(), to_string(unknown->kind)),
        "a plan to simulate only");
  const auto overwrites = [&](const Op& op) { return overwrites_what_it_reads(plan, op); };
  const auto in_place = std::ranges::find_if(plan.ops, overwrites);
  if (in_place != plan.ops.end())
    throw fault_of("plan", fmt::format("operation {}: writes elements that it reads", in_place - plan.ops.begin()),
                   "separate memory");
}

}  // namespace tilerail
