#pragma once

#include <array>
#include <string>

#include "plan/part.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/prescribed/transport.hpp"

namespace tilerail {

/// A rank's part of a plan in which each GPU adds products of blocks of op(A) and op(B)
/// to its own blocks of C: what algorithms with prescribed transport share. They go
/// through all steps and leave out blocks that no GPU of the rank owns, sends or
/// receives.
class BlockGemm {
 public:
  /// `topology` must outlive this object. Throws InputError as `checked`, check_devices
  /// and check_places do, or if A, B and C are not in this layout.
  BlockGemm(const GemmProblem& given, const Topology& topology,
            std::span<const MemoryId> gpus, const Layout& layout,
            const Transport::Options& options, const OwnRank& own);

  /// op(A)[line, other], op(B)[other, line] or C[line, other] in the user's matrix, in
  /// which it must be in one block.
  LocalTile block(TensorId tensor, IndexRange line, IndexRange other) const;

  /// Whether the rank owns elements of op(A)[line, :], op(B)[:, line] or C[line, :].
  bool owns_any(TensorId tensor, IndexRange line) const;

  /// c += alpha a b.
  void add_product(LocalTile& a, LocalTile& b, LocalTile& c);

  /// c = beta c if no product has been added.
  void complete(LocalTile& c);

  /// Throws InfeasibleError if a copy has no route or a memory is too small.
  PlanPart finish(std::string name, int64_t tile);

  const GemmProblem problem;  // checked

 private:
  const Topology& topology_;
  Plan plan_;
  PlanBuilder builder_{plan_};
  std::array<BufferId, 3> first_;  // buffers of A, B and C
  const std::array<Trans, 3> trans_;

 public:
  Transport transport;
};

}  // namespace tilerail
