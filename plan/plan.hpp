#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"
#include "model/machine/topology.hpp"
#include "model/tensor.hpp"
#include "plan/op_kinds.hpp"

namespace tilerail {

/// A block of a tensor in one memory, column-major: the user's, or in the plan's arena of
/// that memory, where it is a copy, a partial result, or scratch.
struct Buffer {
  TensorId tensor = {};
  bool in_arena = true;
  DType dtype = DType::f64;
  MemoryId memory = {};
  int64_t row = 0, col = 0;            // of the block in its tensor
  int64_t rows = 0, cols = 0, ld = 0;  // elements
  int64_t offset = 0;  // bytes from the start of the arena, or of the whole tensor

  int64_t element() const { return element_size(dtype); }  // bytes
};

/// A coefficient of an operation, by name: 0, 1, -1, or the problem's nonzero alpha or
/// beta.
/// A plan therefore serves every alpha and beta that are zero exactly where the values of
/// its problem are.
enum class Scalar : uint8_t { zero, one, minus_one, alpha, beta };

/// One operation, without behaviour. The fields in use depend on `kind`
/// (plan/op_kinds.hpp). An operand with a zero coefficient is never read.
struct Op {
  OpKind kind = OpKind::copy;
  Trans trans_a = Trans::no,
        trans_b = Trans::no;  // gemm only; operands a and b are in stored orientation
  Scalar alpha = Scalar::one, beta = Scalar::zero;
  QueueId queue = {};
  uint32_t first = 0;  // operand; the others follow it in the plan, in order of the kind
};

/// A FIFO queue. compute: kernels of the processor of `dst` (src == dst); copy: src ->
/// dst.
struct Queue {
  enum class Kind : uint8_t { compute, copy };
  Kind kind = Kind::compute;
  MemoryId src, dst;
  int index = 0;  // distinguishes queues of one kind between the same memories
};

/// One decision as text, such as "routing" and "link-eta".
struct PlanDecision {
  std::string key, value;
  bool operator==(const PlanDecision&) const = default;
};

/// The source of a plan's makespan.
enum class Evaluator : uint8_t { none, estimate, simulator, measurement };
inline constexpr std::array<std::string_view, 4> evaluator_names{
    "none", "estimate", "simulator", "measurement"};
constexpr std::string_view to_string(Evaluator evaluator) {
  return evaluator_names[size_t(evaluator)];
}

/// A plan that was compared with others before one was chosen.
struct PlanCandidate {
  std::string what;    // "tile=2048 grid=1x2 gpus=gpu0,gpu1"
  double seconds = 0;  // its makespan
  Evaluator evaluator = Evaluator::none;
  bool operator==(const PlanCandidate&) const = default;
};

/// A reason why a plan was taken. The fields in use depend on `kind`. In words:
/// plan/describe.hpp.
struct PlanReason {
  enum class Kind : uint8_t {
    only_candidate,
    fastest,          // `chosen`, of `count` candidates
    too_little_gain,  // `rival` is faster, but by less than estimates are accurate
    best_set,         // by the metric `name`, of `count` plans on sets of GPUs
    model,            // GPUs and shares by PARALiA's model for the metric `name`
    // The result of the plan cache `name`:
    tuned,  // `chosen`, the fastest of `count` plans, found by version `owner`
    not_tuned,
    other_machine,  // the cache belongs to machine `owner`
    outdated,       // version `owner` planned the same decisions differently
  };
  using enum Kind;
  static constexpr size_t kinds = size_t(outdated) + 1;
  Kind kind = only_candidate;
  size_t chosen = 0, count = 0, rival = 0;  // chosen, rival: indices of candidates
  std::string name = {}, owner = {};
};

/// Origin of a plan: no effect on execution, and not covered by the hash.
struct PlanOrigin {
  std::vector<PlanDecision> decisions;
  Evaluator evaluator = Evaluator::none;  // none: there was no choice
  std::vector<PlanCandidate> candidates;  // in the order in which they were tried
  std::vector<PlanReason> reasons;
  std::vector<std::string>
      without_effect;  // options without effect here, each with the reason
  std::vector<MemoryId> given =
      {};  // of the processors to choose from; empty: not stated
};

/// Overhead of a library's run-time system: host time in addition to the submission
/// overhead of the driver (`issue` of the machine), and limits on copy rates. Only the
/// simulator uses it; on hardware, the actual program has its own overhead.
struct RuntimeCosts {
  Seconds task{0};      // per kernel
  Seconds request{0};   // per copy from or to a host
  Seconds peer{0};      // per copy between GPUs
  Seconds call{0};      // before the first operation
  bool duplex = false;  // host copies are never faster than with an opposite copy
  bool operator==(const RuntimeCosts&) const = default;
};

/// Larger plans are submitted operation by operation: creating a graph takes about 10 us
/// per operation, and device memory.
inline constexpr size_t most_graph_operations = 100'000;

/// All decisions about one problem on one machine. An operation starts when its queue
/// predecessor and all its dependencies have ended: the only execution rule, in every
/// backend. Operations are listed in issue order: dependencies and queue predecessors
/// always have lower ids.
struct Plan {
  Problem problem;
  std::vector<Tensor> tensors;  // of the problem
  std::string machine;          // topology name
  std::vector<std::string>
      memories;        // names by MemoryId, so that a plan file is self-contained
  std::string policy;  // preset name, with "+key=value" for every override
  int64_t tile = 0;
  std::vector<MemoryId> devices;  // of the participating processors
  bool single_issuer =
      false;  // one host thread issues to all devices, instead of one thread per device
  bool graph = false;  // submitted as one graph on repeated runs
  bool warm = false;   // GPUs hold tiles of A and B from an earlier call; simulation only
  RuntimeCosts runtime;  // of the emulated library

  std::vector<Queue> queues;
  std::vector<Buffer> buffers;  // of tensors, each with all its blocks, then of arenas
  std::vector<Op> ops;
  std::vector<View> views;          // of operands; operations can share them
  std::vector<uint32_t> operands;   // of all operations, in their order: indices of views
  std::vector<uint32_t> dep_begin;  // ops.size() + 1 offsets into deps
  std::vector<OpId> deps;
  std::vector<int64_t> peak_bytes;  // by MemoryId: arena bytes for tiles
  PlanOrigin origin;

  std::span<const OpId> deps_of(OpId op) const {
    return {deps.data() + dep_begin[op.index()], deps.data() + dep_begin[op.index() + 1]};
  }
  const Op& op(OpId id) const { return ops[id.index()]; }
  Views operands_of(const Op& op) const {
    return {views, {operands.data() + op.first, info(op.kind).operands.size()}};
  }
  /// The last operand that an operation writes: it gives the operation its shape, its
  /// data type and its label. Joins have none.
  const View& result(const Op& op) const { return operands_of(op).back(); }
  const Queue& queue(QueueId id) const { return queues[id.index()]; }
  const Buffer& buffer(BufferId id) const { return buffers[id.index()]; }
  const Tensor& tensor(TensorId id) const { return tensors[id.index()]; }
  /// The problem as a GEMM. Throws std::bad_variant_access for other problems.
  const GemmProblem& gemm() const { return std::get<GemmProblem>(problem); }
  GemmProblem& gemm() { return std::get<GemmProblem>(problem); }
  /// The data type of the problem's tensors.
  DType dtype() const { return tensors.front().dtype; }
  /// The value of a coefficient.
  double value(Scalar scalar) const;
  /// The GPU that an operation keeps busy: the compute queue's GPU, or the GPU end of a
  /// copy (the destination, unless it is a host).
  MemoryId device_of(const Op& op, const Topology& topology) const;
};

/// Bytes that a copy moves: rows * cols * element size.
Bytes copy_bytes(const Plan& plan, const Op& op);

/// Overhead of the run-time system for this operation.
Seconds runtime_cost(const Plan& plan, const Op& op, const Topology& topology);

/// The coefficient for this value: zero, or `name`.
Scalar scalar_of(double value, Scalar name);

/// 16 hexadecimal digits over the whole plan except its origin. Plans that run
/// identically have equal hashes in every process, whatever their origin.
std::string content_hash(const Plan& plan);

}  // namespace tilerail
