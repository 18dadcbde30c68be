#pragma once

#include <algorithm>
#include <optional>

#include "backends/host/measure/host_machine.hpp"
#include "tests/support/plan_draft.hpp"

namespace tilerail::test {

/// A product in f64 with all matrices in memory 0.
inline GemmProblem on_host(int64_t m, int64_t n, int64_t k) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k;
  return p;
}

inline Topology machine(int devices, int workers) {
  return Topology{host_machine(devices, workers)};
}

/// A simple plan for any problem: tiles of C are distributed round-robin over the
/// devices. Each tile fetches its operands if they are not on the device, multiplies one
/// k after another on its own compute queue, and is written back. Tiles are not reused.
class TiledPlan {
 public:
  TiledPlan(const Topology& topology, const GemmProblem& problem, int64_t tile)
      : topology_{topology},
        p_{checked(problem)},
        tile_{tile},
        draft_{topology, problem} {}

  Plan build() {
    int number = 0;
    for (int64_t j = 0; j < p_.n; j += tile_) {
      for (int64_t i = 0; i < p_.m; i += tile_) add_c_tile(i, j, number++);
    }
    return draft_.plan;
  }

 private:
  Scalar beta() const { return scalar_of(p_.beta, Scalar::beta); }
  static View stored(const View& matrix, Trans trans, int64_t row, int64_t col,
                     int64_t rows, int64_t cols) {
    return trans == Trans::no ? part(matrix, row, col, rows, cols)
                              : part(matrix, col, row, cols, rows);
  }

  View fetched(const View& view, MemoryId place, MemoryId gpu, PlanDraft::Deps& deps) {
    if (place == gpu) return view;
    const View tile = draft_.tile(gpu, view.rows, view.cols);
    deps.push_back(draft_.copy(draft_.copy_queue(place, gpu), view, tile));
    return tile;
  }

  void add_c_tile(int64_t i, int64_t j, int number) {
    const auto& gpus = topology_.gpus();
    const MemoryId gpu = gpus[size_t(number) % gpus.size()];
    const QueueId compute = draft_.compute_queue(gpu, number % 3);
    const int64_t rows = std::min(tile_, p_.m - i), cols = std::min(tile_, p_.n - j);
    const View home = part(draft_.c(), i, j, rows, cols);
    PlanDraft::Deps deps;
    View c = home;
    if (p_.place_c != gpu && p_.beta != 0)
      c = fetched(home, p_.place_c.home(), gpu, deps);
    if (p_.place_c != gpu && p_.beta == 0) c = draft_.tile(gpu, rows, cols);
    std::optional<OpId> last;
    for (int64_t k = 0; k < p_.k; k += tile_) {
      const int64_t depth = std::min(tile_, p_.k - k);
      const View a = fetched(stored(draft_.a(), p_.trans_a, i, k, rows, depth),
                             p_.place_a.home(), gpu, deps);
      const View b = fetched(stored(draft_.b(), p_.trans_b, k, j, depth, cols),
                             p_.place_b.home(), gpu, deps);
      last = draft_.gemm(
          compute, a, b, c,
          {scalar_of(p_.alpha, Scalar::alpha), k == 0 ? beta() : Scalar::one}, deps);
      deps = {*last};
    }
    if (!last) last = draft_.axpby(compute, View{}, c, {Scalar::zero, beta()}, deps);
    if (p_.place_c != gpu)
      draft_.copy(draft_.copy_queue(gpu, p_.place_c.home()), c, home, {*last});
  }

  const Topology& topology_;
  GemmProblem p_;
  int64_t tile_;
  PlanDraft draft_;
};

inline Plan tiled_plan(const Topology& topology, const GemmProblem& problem,
                       int64_t tile) {
  return TiledPlan{topology, problem, tile}.build();
}

}  // namespace tilerail::test
