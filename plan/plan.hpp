#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"
#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/op_kinds.hpp"

namespace tilerail {

/// A matrix or a tile in one memory, column-major.
struct Buffer {
  enum class Kind : uint8_t { matrix_a, matrix_b, matrix_c, tile };
  Kind kind = Kind::tile;
  MemoryId memory;
  int64_t rows = 0, cols = 0, ld = 0;  // elements
  int64_t offset = 0;  // bytes from the start of the arena of `memory`, or of the matrix
                       // of which it is a block
  DType dtype = DType::f64;

  int64_t element() const { return element_size(dtype); }  // bytes
};

/// Rows [row, row + rows) and columns [col, col + cols) of a buffer.
struct View {
  BufferId buffer;
  int64_t row = 0, col = 0, rows = 0, cols = 0;
};

/// A coefficient of an operation, by name: 0, 1, or the alpha or beta of the problem,
/// neither of which is 0 then. So a plan serves every alpha and beta that are 0 where
/// those of its problem are.
enum class Scalar : uint8_t { zero, one, alpha, beta };

/// One operation. It holds data, no behaviour. Which fields count depends on `kind`
/// (plan/op_kinds.hpp). A view whose coefficient is zero is never read.
struct Op {
  OpKind kind = OpKind::copy;
  Trans trans_a = Trans::no,
        trans_b = Trans::no;  // gemm; views a and b are in stored orientation
  QueueId queue;
  View a, b, y;
  Scalar alpha = Scalar::one, beta = Scalar::zero;
};

/// A FIFO queue. compute: kernels of the GPU `dst` (src == dst); copy: src -> dst.
struct Queue {
  enum class Kind : uint8_t { compute, copy };
  Kind kind = Kind::compute;
  MemoryId src, dst;
  int index = 0;  // several queues of one kind between the same memories
};

/// One decision, as text: "routing" and "link-eta".
struct PlanDecision {
  std::string key, value;
  bool operator==(const PlanDecision&) const = default;
};

/// A plan that was looked at while this one was chosen, and what its judge gave for it.
struct PlanCandidate {
  std::string what;        // "tile=2048 grid=1x2 gpus=gpu0,gpu1"
  double seconds = 0;      // its makespan
  std::string judge = "";  // who says so: "estimate" or "simulator"
  bool operator==(const PlanCandidate&) const = default;
};

/// How a plan came to be. It changes nothing about what runs, and no hash covers it.
struct PlanOrigin {
  std::vector<PlanDecision> decisions;
  std::string judge =
      "none";  // who decided between candidates: "estimate", "simulator", or "none"
  std::vector<PlanCandidate> candidates;  // in the order in which they were tried
  std::string why;                        // in a sentence: why this plan was taken
  std::vector<std::string>
      without_effect;  // wishes that cannot matter here, each with the reason
  std::vector<MemoryId> given =
      {};  // GPUs that the plan could have used; empty: not said
  bool operator==(const PlanOrigin&) const = default;
};

/// What the run-time system of a library costs: host time, beside what the driver takes
/// to hand an operation over
/// (`issue` of the machine), and rates of copies. The simulator counts it; on hardware it
/// is that of whoever runs the plan.
struct RuntimeCosts {
  Seconds task{0};     // for each kernel
  Seconds request{0};  // for each copy from or to a host
  Seconds peer{0};     // for each copy from GPU to GPU
  Seconds call{0};     // before the first operation
  bool duplex =
      false;  // no copy between a host and a GPU is faster than beside one the other way
  bool operator==(const RuntimeCosts&) const = default;
};

/// Larger plans are handed over operation by operation: a graph takes some 10 us an
/// operation to make, and memory of the device.
inline constexpr size_t most_graph_operations = 100'000;

/// All decisions about one problem on one machine. An operation starts when the operation
/// before it in its queue and all its dependencies have ended: the only execution rule,
/// in every backend. Operations are listed in issue order: dependencies and queue
/// predecessors always have lower ids.
struct Plan {
  GemmProblem problem;
  std::string machine;  // topology name
  std::vector<std::string>
      memories;        // names by MemoryId, so that a plan file is readable by itself
  std::string policy;  // preset name, with "+key=value" for every override
  int64_t tile = 0;
  std::vector<MemoryId> devices;  // GPUs that take part
  bool single_issuer =
      false;             // one host thread issues to all devices, instead of one for each
  bool graph = false;    // handed over as one graph where it runs again
  bool warm = false;     // GPUs hold tiles of A and B from an earlier call; planned and
                         // simulated only
  RuntimeCosts runtime;  // of the library that is emulated

  std::vector<Queue> queues;
  std::vector<Buffer>
      buffers;  // of matrices, each whole or its blocks one after another, then tiles
  std::vector<Op> ops;
  std::vector<uint32_t> dep_begin;  // ops.size() + 1 offsets into deps
  std::vector<OpId> deps;
  std::vector<int64_t>
      peak_bytes;  // by MemoryId: bytes of the arena that tiles need there
  PlanOrigin origin;

  std::span<const OpId> deps_of(OpId op) const {
    return {deps.data() + dep_begin[op.index()], deps.data() + dep_begin[op.index() + 1]};
  }
  const Op& op(OpId id) const { return ops[id.index()]; }
  const Queue& queue(QueueId id) const { return queues[id.index()]; }
  const Buffer& buffer(BufferId id) const { return buffers[id.index()]; }
  /// The value of a coefficient.
  double value(Scalar scalar) const;
  /// The GPU that an operation keeps busy: the compute queue's, or the GPU end of a copy
  /// (its destination, unless that is a host).
  MemoryId device_of(const Op& op, const Topology& topology) const;
};

/// Bytes that a copy moves: rows * cols * element size.
Bytes copy_bytes(const Plan& plan, const Op& op);

/// What the run-time system takes for this operation.
Seconds runtime_cost(const Plan& plan, const Op& op, const Topology& topology);

/// How operations name a coefficient of this value: as zero, or by `name`.
Scalar scalar_of(double value, Scalar name);

/// 16 hexadecimal digits over everything that the plan contains but its origin: two plans
/// that run alike have equal hashes, in any process, however they came to be.
std::string content_hash(const Plan& plan);

}  // namespace tilerail
