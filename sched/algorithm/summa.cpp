#include "sched/algorithm/summa.hpp"

#include <set>
#include <utility>

#include "sched/algorithm/block_gemm.hpp"

namespace tilerail {
namespace {

/// Rows of C and op(A), or columns of C and op(B).
struct Line {
  TensorId tensor;
  IndexRange range;
  std::set<MemoryId> gpus = {};   // with blocks of C
  Tiles now = {}, arriving = {};  // of a panel
};

struct Block {
  LocalTile c;
  Line &row, &col;
};

}  // namespace

Plan plan_summa(const GemmProblem& given, const Topology& topology,
                const SummaOptions& options) {
  BlockGemm gemm{given, topology, given.place_c.members(), given.place_c,
                 options.transport};
  const GemmProblem& p = gemm.problem;
  const Borders borders = borders_of(p);
  std::vector<Line> rows, cols;
  for (const IndexRange m : split_tiles({0, p.m}, p.m, borders.m))
    rows.push_back({tensor_a, m});
  for (const IndexRange n : split_tiles({0, p.n}, p.n, borders.n))
    cols.push_back({tensor_b, n});
  std::vector<Block> blocks;
  for (Line& col : cols) {
    for (Line& row : rows) {
      blocks.push_back({gemm.block(tensor_c, row.range, col.range), row, col});
      const MemoryId gpu = gemm.transport.memory(blocks.back().c);
      row.gpus.insert(gpu), col.gpus.insert(gpu);
    }
  }
  std::vector<IndexRange> depth;
  if (p.has_product()) depth = split_tiles({0, p.k}, options.panel, borders.k);
  // Panel k arrives under the products of panel k - 1.
  for (size_t k = 0; k <= depth.size(); ++k) {
    for (auto* lines : {&rows, &cols}) {
      for (Line& line : *lines) {
        Transport::drop(line.now);
        line.now = std::exchange(line.arriving, {});
        if (k == depth.size()) continue;
        const std::vector<MemoryId> members(line.gpus.begin(), line.gpus.end());
        gemm.transport.broadcast(gemm.block(line.tensor, line.range, depth[k]), members,
                                 line.arriving);
      }
    }
    for (auto& [c, row, col] : blocks) {
      const MemoryId gpu = gemm.transport.memory(c);
      gemm.add_product(row.now[gpu], col.now[gpu], c);
    }
  }
  for (Block& block : blocks) gemm.complete(block.c);
  return gemm.finish("summa", options.panel);
}

}  // namespace tilerail
