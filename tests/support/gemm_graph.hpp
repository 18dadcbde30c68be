#pragma once

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/tasks/task_graph.hpp"

namespace tilerail {

/// All tasks of a GEMM in the order of a serial program, for schedulers without owners of
/// C. The first task of each tile of C scales it by `beta`.
inline TaskGraph gemm_graph(const GemmTasks& tasks, const Tiling& tiling, Scalar beta) {
  const auto rows = int64_t(tiling.m.size()), cols = int64_t(tiling.n.size());
  const auto depth = int64_t(tiling.k.size());
  TaskGraph graph;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      for (int64_t k = 0; k < depth; ++k) {
        Task task = tasks.task({i, j, k}, k == 0, k + 1 == depth);
        if (k == 0) task.op.beta = beta;
        graph.insert(task);
      }
  return graph;
}

}  // namespace tilerail
