#include "sched/algorithm/summa.hpp"

#include <set>
#include <string>
#include <utility>

#include "model/base/error.hpp"
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

/// The lines with blocks of C, A or B in the rank's memories.
std::vector<Line*> own_lines(const BlockGemm& gemm, std::vector<Line>& rows,
                             std::vector<Line>& cols) {
  std::vector<Line*> lines;
  for (auto* all : {&rows, &cols})
    for (Line& line : *all)
      if (gemm.transport.own.has_any(line.gpus) || gemm.owns_any(line.tensor, line.range))
        lines.push_back(&line);
  return lines;
}

}  // namespace

Plan plan_summa(const GemmProblem& problem, const Topology& topology,
                const SummaOptions& options) {
  return part_of_summa(problem, topology, {}, options).plan;
}

PlanPart part_of_summa(const GemmProblem& given, const Topology& topology,
                       const OwnRank& own, const SummaOptions& options) {
  if (options.panel < 1)
    throw out_of_range("panel", std::to_string(options.panel), "at least 1");
  BlockGemm gemm{given,         topology,          given.place_c.members(),
                 given.place_c, options.transport, own};
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
      const LocalTile c = gemm.block(tensor_c, row.range, col.range);
      row.gpus.insert(c.memory()), col.gpus.insert(c.memory());
      if (own.has(c.memory())) blocks.push_back({c, row, col});
    }
  }
  const std::vector<Line*> lines = own_lines(gemm, rows, cols);
  std::vector<IndexRange> depth;
  if (p.has_product()) depth = split_tiles({0, p.k}, options.panel, borders.k);
  // Panel k arrives under the products of panel k - 1.
  for (size_t k = 0; k <= depth.size(); ++k) {
    for (Line* line : lines) {
      Transport::drop(line->now);
      line->now = std::exchange(line->arriving, {});
      if (k == depth.size()) continue;
      const std::vector<MemoryId> members(line->gpus.begin(), line->gpus.end());
      gemm.transport.broadcast(gemm.block(line->tensor, line->range, depth[k]), members,
                               line->arriving);
    }
    for (auto& [c, row, col] : blocks)
      gemm.add_product(row.now[c.memory()], col.now[c.memory()], c);
  }
  for (Block& block : blocks) gemm.complete(block.c);
  return gemm.finish("summa", options.panel);
}

}  // namespace tilerail
