// Random problems for algorithms with prescribed transport.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sched/prescribed/transport.hpp"

namespace tilerail::testing {

using Random = std::mt19937_64;

inline int64_t random_below(Random& random, int64_t end) {
  return int64_t(random() % uint64_t(end));
}

/// Extents below `most`; few are smaller than the grid, or empty.
inline GemmProblem random_problem(Random& random, int64_t most) {
  GemmProblem p;
  for (int64_t* extent : {&p.m, &p.n, &p.k})
    *extent = random_below(random, random_below(random, 8) == 0 ? 4 : most);
  p.alpha = std::array{2.0, 1.0, -3.0, 0.0}[random() % 8 % 4 * (random() % 4 != 0)];
  p.beta = std::array{1.0, 0.0, -2.0}[random() % 3];
  p.trans_a = random() % 2 ? Trans::yes : Trans::no;
  p.trans_b = random() % 2 ? Trans::yes : Trans::no;
  p.lda = std::max<int64_t>(1, p.rows_a()) + random_below(random, 3);
  p.ldb = std::max<int64_t>(1, p.rows_b()) + random_below(random, 3);
  p.ldc = std::max<int64_t>(1, p.m) + random_below(random, 3);
  return p;
}

inline Transport::Options random_transport(Random& random) {
  return {std::array{Pattern::chain, Pattern::ring, Pattern::tree}[random() % 3],
          1 + int(random() % 3)};
}

inline std::string text(const GemmProblem& p, const Transport::Options& transport) {
  std::ostringstream out;
  out << p.m << " x " << p.n << " x " << p.k << " " << to_string(p.trans_a)
      << to_string(p.trans_b) << " alpha " << p.alpha << " beta " << p.beta << " pattern "
      << int(transport.pattern) << " pieces " << transport.pieces;
  return out.str();
}

inline Layout grid_on(const std::vector<MemoryId>& gpus, LayoutGrid grid) {
  return {grid, {}, {}, {gpus.begin(), gpus.begin() + ptrdiff_t(grid.members())}};
}

/// Pairs of grids or cubes, the first three times as often as each other one.
template <class Shape>
Shape mostly_first(Random& random, std::initializer_list<Shape> shapes) {
  const size_t i = random() % (shapes.size() + 2);
  return shapes.begin()[i < shapes.size() ? i : 0];
}

}  // namespace tilerail::testing
