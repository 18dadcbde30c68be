#include "plan/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "plan/builder.hpp"
#include "plan/memory_needs.hpp"

namespace tilerail {
namespace {

/// Records the part under check for error messages.
class Checker {
 public:
  Checker(const Plan& plan, const OwnRank& own) : plan_{plan}, own_{own} {}

  void run() {
    header();
    for (index_ = 0, kind_ = "queue"; index_ < plan_.queues.size(); ++index_)
      queue(plan_.queues[index_]);
    for (index_ = 0, kind_ = "buffer"; index_ < plan_.buffers.size(); ++index_)
      buffer(plan_.buffers[index_]);
    for (index_ = 0, kind_ = "operation"; index_ < plan_.ops.size(); ++index_)
      op(plan_.ops[index_]);
  }

 private:
  /// Formats texts only on failure, because plans have millions of operations.
  template <class... Values>
  void require(bool holds, fmt::format_string<const Values&...> what,
               const Values&... values) const {
    if (!holds) fail(fmt::format(what, values...), "");
  }
  [[noreturn]] void fail(const std::string& problem, std::string_view expected) const {
    const std::string place = kind_ ? fmt::format("{} {}: ", kind_, index_) : "";
    throw fault_of("plan", place + problem, expected);
  }

  bool is_memory(MemoryId id) const { return id.index() < plan_.memories.size(); }

  /// BLAS accepts non-finite scalars.
  static Problem with_finite_scalars(Problem problem) {
    if (auto* gemm = std::get_if<GemmProblem>(&problem))
      for (double* scalar : {&gemm->alpha, &gemm->beta})
        if (!std::isfinite(*scalar)) *scalar = 1;
    return problem;
  }

  void header() const {
    std::visit([](const auto& problem) { checked(problem); },
               with_finite_scalars(plan_.problem));
    for (const Tensor& tensor : plan_.tensors) {
      for (const MemoryId place : tensor.layout.members()) in_memory(place);
      require(tensor.layout.count_blocks(tensor.rows, tensor.cols) <= Layout::most_blocks,
              "the layout of {} has more than {} blocks", tensor.name,
              Layout::most_blocks);
    }
    require(plan_.peak_bytes.size() == plan_.memories.size(),
            "peak_bytes must have one entry for each memory");
    for (const auto* devices : {&plan_.devices, &plan_.origin.given})
      for (const MemoryId device : *devices) in_memory(device);
  }

  void in_memory(MemoryId id) const {
    require(is_memory(id), "memory {}: expected one of the plan's {}", id.value,
            plan_.memories.size());
  }

  void queue(const Queue& q) const {
    in_memory(q.src);
    in_memory(q.dst);
    require(own_.has(q.src) || own_.has(q.dst), "belongs to another rank");
    if (q.kind == Queue::Kind::compute)
      require(q.src == q.dst && std::ranges::count(plan_.devices, q.dst) == 1,
              "a compute queue's memory must be one of the plan's devices");
  }

  void buffer(const Buffer& b) const {
    in_memory(b.memory);
    if (b.ld < std::max<int64_t>(1, b.rows))
      fail(fmt::format("ld is {}", b.ld), fmt::format("at least the {} rows", b.rows));
    require(b.tensor.index() < plan_.tensors.size(), "tensor {} of {}", b.tensor.value,
            plan_.tensors.size());
    require(b.offset % b.element() == 0,
            "offset must be a multiple of the bytes of an element");
    if (!b.in_arena || !own_.has(b.memory)) return;  // see require_blocks
    const int64_t peak = plan_.peak_bytes[b.memory.index()],
                  room = (peak - b.offset) / b.element();
    require(b.offset <= peak && (b.cols == 0 || b.ld <= room / b.cols),
            "a tile of {} columns of {} elements at {} lies outside the stated peak of "
            "{} bytes",
            b.cols, b.ld, b.offset, peak);
  }

  void view(const View& v, const char* name) const {
    require(v.buffer.index() < plan_.buffers.size(),
            "{}: buffer {}: expected one of the plan's {}", name, v.buffer.value,
            plan_.buffers.size());
    const Buffer& b = plan_.buffer(v.buffer);
    const DType dtype = plan_.dtype();
    if (b.dtype != dtype && b.dtype != sum_type(dtype))
      fail(fmt::format("{}: buffer {} has type {}", name, v.buffer.value,
                       to_string(b.dtype)),
           fmt::format("{}, the type of the problem", to_string(dtype)));
    require(v.row + v.rows <= b.rows && v.col + v.cols <= b.cols,
            "{}: view of {} x {} from ({}, {}) lies outside its buffer of {} x {}", name,
            v.rows, v.cols, v.row, v.col, b.rows, b.cols);
  }

  void op(const Op& o) const {
    require(o.queue.index() < plan_.queues.size(),
            "queue {}: expected one of the plan's {}", o.queue.value,
            plan_.queues.size());
    for (const OpId dep : plan_.deps_of(OpId{index_}))
      require(dep.index() < index_, "depends on {}, which is not before it", dep.value);
    if (o.kind == OpKind::join) return;
    const auto operands = plan_.operands_of(o);
    for (const auto i : indices(operands)) {
      view(operands[i], info(o.kind).operands[i].name);
      const Buffer& b = plan_.buffer(operands[i].buffer);
      const Tensor& tensor = plan_.tensor(b.tensor);
      require(!writes(o.kind, i) || b.in_arena || tensor.use != Tensor::Use::input,
              "writes to {}, which is only read", tensor.name);
    }
    require(shapes_match(o, operands), "its views have different shapes");
    require(types_match(o.kind, operands), "its views have different types");
    place(o, operands);
  }

  /// The triangular factors of block reflectors, t.rows of them in a block.
  static bool is_t(const View& t, int64_t reflectors) {
    return t.cols == reflectors && t.rows > 0 && t.rows <= t.cols;
  }

  static bool shapes_match(const Op& o, Views x) {
    const View &a = x.front(), &y = x.back();
    switch (o.kind) {
      case OpKind::gemm:
        return product_matches(o, x);
      case OpKind::trsm:
        return a.rows == a.cols && a.cols == y.cols;
      case OpKind::potrf:
      case OpKind::syrk:
        return y.rows == y.cols && a.rows == y.rows;
      case OpKind::geqrt:
        return is_t(a, std::min(y.rows, y.cols));
      case OpKind::ormqr:
        return a.rows == y.rows && is_t(x[1], std::min(a.rows, a.cols));
      case OpKind::tsqrt:
        return x[1].rows >= y.cols && x[1].cols == y.cols && is_t(a, y.cols);
      case OpKind::tsmqr:
        return stack_matches(x);
      default:
        return !reads(o, 0) || same_shape(a, y);
    }
  }

  static bool same_shape(const View& a, const View& b) {
    return a.rows == b.rows && a.cols == b.cols;
  }

  static bool product_matches(const Op& o, Views x) {
    const View &a = x[0], &b = x[1], &y = x[2];
    const bool ta = o.trans_a == Trans::yes, tb = o.trans_b == Trans::yes;
    const int64_t m = ta ? a.cols : a.rows, kb = tb ? b.cols : b.rows,
                  n = tb ? b.rows : b.cols;
    return m == y.rows && n == y.cols && gemm_depth(o, x) == kb;
  }

  static bool stack_matches(Views x) {
    const View &v = x[0], &r = x[2], &y = x[3];
    return v.rows == y.rows && v.cols == r.rows && r.cols == y.cols && is_t(x[1], v.cols);
  }

  /// Inputs of products have the type of the problem, and only sums are rounded.
  bool types_match(OpKind kind, Views operands) const {
    const auto is_own = [&](const View& view) {
      return plan_.buffer(view.buffer).dtype == plan_.dtype();
    };
    const bool of_a = is_own(operands.front()), of_y = is_own(operands.back());
    if (kind == OpKind::gemm) return of_a && is_own(operands[1]);
    if (tile_kernel(kind))
      return std::ranges::all_of(operands, is_own) && element_size(plan_.dtype()) > 2;
    return of_y == of_a || (of_y && kind == OpKind::axpby);
  }

  /// Operands and the queue must be in the same memories.
  void place(const Op& o, Views operands) const {
    const Queue& q = plan_.queue(o.queue);
    const auto is_at = [&](size_t i, MemoryId memory) {
      return plan_.buffer(operands[i].buffer).memory == memory;
    };
    if (o.kind == OpKind::copy)
      return require(q.kind == Queue::Kind::copy && is_at(0, q.src) && is_at(1, q.dst),
                     "a copy must sit in a copy queue between the memories of its views");
    bool is_there = q.kind == Queue::Kind::compute;
    for (const auto i : indices(operands))
      if (reads(o, i) || writes(o.kind, i)) is_there = is_there && is_at(i, q.dst);
    require(is_there,
            "a kernel must sit in a compute queue of the memory of its operands");
  }

  const Plan& plan_;
  const OwnRank own_;
  const char* kind_ = nullptr;  // kind of the part under check; null: the header
  size_t index_ = 0;
};

bool same_block(const Buffer& a, const Buffer& b) {
  return a.memory == b.memory && a.row == b.row && a.col == b.col && a.rows == b.rows &&
         a.cols == b.cols && a.ld == b.ld && a.offset == b.offset && a.dtype == b.dtype;
}

/// The buffers of each tensor outside of arenas must be the blocks of its layout.
void require_blocks(const Plan& plan) {
  for (const auto i : indices(plan.tensors)) {
    std::vector<Buffer> there;
    std::ranges::copy_if(plan.buffers, std::back_inserter(there), [&](const Buffer& b) {
      return !b.in_arena && b.tensor.index() == i;
    });
    if (!there.empty() &&
        !std::ranges::equal(there, tensor_buffers(plan, TensorId{i}), same_block))
      throw fault_of("plan",
                     fmt::format("the buffers of {} are not the blocks of its layout",
                                 plan.tensors[i].name));
  }
}

}  // namespace

void validate(const Plan& plan) {
  Checker{plan, {}}.run();
  require_blocks(plan);
}

bool names_memories_of(const Plan& plan, const Topology& topology) {
  const auto& memories = topology.memories();
  return std::ranges::equal(plan.memories, memories, {}, {}, &Memory::name);
}

void require_fit(const Plan& plan, const Topology& topology) {
  if (!names_memories_of(plan, topology))
    throw fault_of("plan",
                   fmt::format("made for machine '{}', whose memories differ from '{}'",
                               plan.machine, topology.name()));
  const auto require_processor = [&](MemoryId memory) {
    if (!topology.computes(memory))
      throw fault_of("plan", fmt::format("lists '{}', which has no processor",
                                         topology.memory(memory).name));
  };
  for (const Queue& q : plan.queues) {
    if (q.kind == Queue::Kind::compute) require_processor(q.dst);
    if (!topology.has_route(q.src, q.dst))
      throw fault_of(
          "plan",
          fmt::format(
              "has copies from '{}' to '{}', between which machine '{}' has no route",
              topology.memory(q.src).name, topology.memory(q.dst).name, topology.name()),
          "other devices or a link");
  }
  std::ranges::for_each(plan.devices, require_processor);
  std::ranges::for_each(plan.origin.given, require_processor);
  check_capacities(memory_needs(plan, topology), topology, "plan");
}

void validate(const Plan& plan, const Topology& topology, const OwnRank& own) {
  Checker{plan, own}.run();
  require_blocks(plan);
  require_fit(plan, topology);
}

namespace {

/// Compares tiles of one memory by their byte ranges, including the bytes between
/// columns, since tiles are packed; views of one buffer as rectangles.
bool overlap(const Plan& plan, const View& x, const View& y) {
  if (x.rows == 0 || x.cols == 0 || y.rows == 0 || y.cols == 0) return false;
  if (x.buffer == y.buffer)
    return x.row < y.row + y.rows && y.row < x.row + x.rows && x.col < y.col + y.cols &&
           y.col < x.col + x.cols;
  const Buffer &of_x = plan.buffer(x.buffer), &of_y = plan.buffer(y.buffer);
  if (!of_x.in_arena || !of_y.in_arena || of_x.memory != of_y.memory) return false;
  const auto begin = [](const View& v, const Buffer& b) {
    return b.offset + (v.row + v.col * b.ld) * b.element();
  };
  const auto bytes = [](const View& v, const Buffer& b) {
    return (v.rows + (v.cols - 1) * b.ld) * b.element();
  };
  return begin(x, of_x) < begin(y, of_y) + bytes(y, of_y) &&
         begin(y, of_y) < begin(x, of_x) + bytes(x, of_x);
}

/// Invalid, because a kernel or a copy may read an element after it has written a
/// neighbour. However, axpby may add elements to themselves.
bool overwrites_what_it_reads(const Plan& plan, const Op& op) {
  const auto operands = plan.operands_of(op);
  for (const auto i : indices(operands))
    for (const auto j : indices(operands)) {
      const View &x = operands[i], &y = operands[j];
      const bool to_itself = op.kind == OpKind::axpby && x.buffer == y.buffer &&
                             x.row == y.row && x.col == y.col;
      if (i != j && reads(op, i) && writes(op.kind, j) && !to_itself &&
          overlap(plan, x, y))
        return true;
    }
  return false;
}

}  // namespace

void require_kernels(const Plan& plan, bool on_cuda) {
  if (plan.warm)
    throw fault_of("plan",
                   "is warm: it reads tiles that an earlier call has left on GPUs, and "
                   "is only simulated",
                   "warm=off");
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (on_cuda && !info(op.kind).on_cuda)
      throw fault_of(
          "plan",
          fmt::format("operation {}: '{}' has no CUDA kernel yet", i, to_string(op.kind)),
          "the host backend or a simulation");
    if (overwrites_what_it_reads(plan, op))
      throw fault_of("plan",
                     fmt::format("operation {}: writes elements that it reads", i),
                     "separate memory");
  }
}

}  // namespace tilerail
