#include "tests/support/plan_interpreter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "tests/support/halves.hpp"

namespace tilerail::testing {
namespace {

size_t at(int64_t row, int64_t col, int64_t ld) { return size_t(row + col * ld); }

std::vector<double> filled(int64_t ld, int64_t cols, std::mt19937_64& random) {
  std::vector<double> data(size_t(ld * std::max<int64_t>(cols, 1)));
  for (double& x : data) x = double(int(random() % 17)) - 8;
  return data;
}

/// The memory of a plan during interpretation.
class Machine {
 public:
  Machine(const Plan& plan, Matrices& matrices) : plan_{plan}, matrices_{matrices} {
    for (const int64_t bytes : plan.peak_bytes)
      arenas_.emplace_back(size_t(bytes / element_),
                           std::numeric_limits<double>::quiet_NaN());
  }

  /// Results are rounded to their type.
  void run(const Op& op) {
    if (op.kind == OpKind::join) return;
    compute(op);
    const auto operands = plan_.operands_of(op);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!writes(op.kind, i)) continue;
      const View& y = operands[i];
      const DType dtype = plan_.buffer(y.buffer).dtype;
      each(y, [&](int64_t r, int64_t c) {
        cell(y, r, c) = test::stored(cell(y, r, c), dtype);
      });
    }
  }

 private:
  void compute(const Op& op) {
    const auto x = plan_.operands_of(op);
    const View &a = x[0], &y = plan_.result(op);
    switch (op.kind) {
      case OpKind::join:
        return;
      case OpKind::copy:
        return each(y, [&](int64_t r, int64_t c) { cell(y, r, c) = cell(a, r, c); });
      case OpKind::axpby:
        return each(y, [&](int64_t r, int64_t c) {
          const double x = reads(op, 0) ? plan_.value(op.alpha) * cell(a, r, c) : 0.0;
          cell(y, r, c) = x + scaled_y(op, r, c);
        });
      case OpKind::gemm:
        return gemm(op);
      case OpKind::potrf:
        return potrf(y);
      case OpKind::trsm:
        return trsm(a, y);
      case OpKind::syrk:
        return each(y, [&](int64_t r, int64_t c) {
          for (int64_t k = 0; k < a.cols && r >= c; ++k)
            cell(y, r, c) -= cell(a, r, k) * cell(a, c, k);
        });
      case OpKind::geqrt:
        return factor({y, {}}, a);
      case OpKind::ormqr:
        return apply({a, {}}, x[1], {y, {}});
      case OpKind::tsqrt:
        return factor({x[1], y}, a);
      case OpKind::tsmqr:
        return apply({a, a}, x[1], {x[2], y});
    }
  }

  template <class Function>
  void each(const View& v, Function f) {
    for (int64_t c = 0; c < v.cols; ++c)
      for (int64_t r = 0; r < v.rows; ++r) f(r, c);
  }

  double& cell(const View& v, int64_t row, int64_t col) {
    const Buffer& b = plan_.buffer(v.buffer);
    const size_t i =
        (size_t(b.offset) + at(v.row + row, v.col + col, b.ld) * size_t(b.element())) /
        size_t(element_);
    if (b.in_arena) return arenas_[b.memory.index()].at(i);
    return std::array{&matrices_.a, &matrices_.b, &matrices_.c}[b.tensor.index()]->at(i);
  }

  double scaled_y(const Op& op, int64_t r, int64_t c) {
    return reads(op, plan_.operands_of(op).size() - 1)
               ? plan_.value(op.beta) * cell(plan_.result(op), r, c)
               : 0.0;
  }

  /// L of y = L L^T in the lower triangle; the upper triangle is unchanged.
  void potrf(const View& y) {
    for (int64_t c = 0; c < y.cols; ++c)
      for (int64_t r = c; r < y.rows; ++r) {
        double left = cell(y, r, c);
        for (int64_t k = 0; k < c; ++k) left -= cell(y, r, k) * cell(y, c, k);
        cell(y, r, c) = r == c ? std::sqrt(left) : left / cell(y, c, c);
      }
  }

  /// y = y a^-T, a lower triangular: columns from left to right.
  void trsm(const View& a, const View& y) {
    for (int64_t c = 0; c < y.cols; ++c)
      for (int64_t r = 0; r < y.rows; ++r) {
        double left = cell(y, r, c);
        for (int64_t k = 0; k < c; ++k) left -= cell(y, r, k) * cell(a, c, k);
        cell(y, r, c) = left / cell(a, c, c);
      }
  }

  /// The rows of `top` above the rows of `below`.
  struct Stack {
    View top, below;
  };

  double& cell(const Stack& s, int64_t row, int64_t col) {
    return row < s.top.rows ? cell(s.top, row, col)
                            : cell(s.below, row - s.top.rows, col);
  }

  /// Householder vector j of y = V \ R has a 1 in row j and its other elements in the
  /// rows from the result on: below the diagonal, or below R.
  static int64_t begin(const Stack& y, int64_t j) {
    return y.below.rows > 0 ? y.top.rows : j + 1;
  }
  static int64_t end(const Stack& y) { return y.top.rows + y.below.rows; }

  /// c = (I - tau v v^T) c for a column of `c`.
  void reflect(const Stack& v, int64_t j, double tau, const Stack& c, int64_t col) {
    double sum = cell(c, j, col);
    for (int64_t r = begin(v, j); r < end(v); ++r) sum += cell(v, r, j) * cell(c, r, col);
    cell(c, j, col) -= tau * sum;
    for (int64_t r = begin(v, j); r < end(v); ++r)
      cell(c, r, col) -= tau * sum * cell(v, r, j);
  }

  /// LAPACK's geqrt and tpqrt, a reflector at a time: beta = -sign(alpha) |x|, tau =
  /// (beta - alpha) / beta, v = x / (alpha - beta) below the 1. In blocks of t.rows,
  ///   T(:, j) = tau_j [-T V^T v_j; 1].
  void factor(const Stack& y, const View& t) {
    for (int64_t j = 0; j < t.cols; ++j) {
      double squares = 0;
      for (int64_t r = begin(y, j); r < end(y); ++r)
        squares += cell(y, r, j) * cell(y, r, j);
      const double alpha = cell(y, j, j),
                   beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha),
                   tau = squares == 0 ? 0 : (beta - alpha) / beta;
      for (int64_t r = begin(y, j); r < end(y) && tau != 0; ++r)
        cell(y, r, j) /= alpha - beta;
      for (int64_t c = j + 1; c < y.top.cols; ++c) reflect(y, j, tau, y, c);
      if (tau != 0) cell(y, j, j) = beta;
      add_to_t(y, t, j, tau);
    }
  }

  void add_to_t(const Stack& v, const View& t, int64_t j, double tau) {
    const int64_t first = j / t.rows * t.rows, size = j - first;
    std::vector<double> products;
    for (int64_t i = first; i < j; ++i) {
      double sum = v.below.rows > 0 ? 0 : cell(v, j, i);
      for (int64_t r = begin(v, j); r < end(v); ++r) sum += cell(v, r, i) * cell(v, r, j);
      products.push_back(sum);
    }
    for (int64_t i = 0; i < t.rows; ++i) cell(t, i, j) = 0;
    for (int64_t i = 0; i < size; ++i)
      for (int64_t k = i; k < size; ++k)
        cell(t, i, j) -= tau * cell(t, i, first + k) * products[size_t(k)];
    cell(t, size, j) = tau;
  }

  /// c = Q^T c, a reflector at a time: tau is on the diagonals of T.
  void apply(const Stack& v, const View& t, const Stack& c) {
    Stack stacked = v;
    if (v.below.rows > 0) stacked.top.rows = c.top.rows;  // of R, which is not read
    for (int64_t j = 0; j < t.cols; ++j)
      for (int64_t col = 0; col < c.top.cols; ++col)
        reflect(stacked, j, cell(t, j % t.rows, j), c, col);
  }

  void gemm(const Op& op) {
    const bool ta = op.trans_a == Trans::yes, tb = op.trans_b == Trans::yes;
    const View &a = plan_.operands_of(op)[0], &b = plan_.operands_of(op)[1],
               &y = plan_.result(op);
    const int64_t depth = ta ? a.rows : a.cols;
    each(y, [&](int64_t r, int64_t c) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum +=
            (ta ? cell(a, k, r) : cell(a, r, k)) * (tb ? cell(b, c, k) : cell(b, k, c));
      cell(y, r, c) = plan_.value(op.alpha) * sum + scaled_y(op, r, c);
    });
  }

  const Plan& plan_;
  const int64_t element_ =
      element_size(plan_.dtype());  // bytes; so many are one double here
  Matrices& matrices_;
  std::vector<std::vector<double>> arenas_;
};

/// The previous operation in the queue of each operation; ops.size() if it is the first.
std::vector<size_t> queue_predecessors(const Plan& plan) {
  std::vector<size_t> last(plan.queues.size(), plan.ops.size()), before;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    before.push_back(last[plan.ops[i].queue.index()]);
    last[plan.ops[i].queue.index()] = i;
  }
  return before;
}

/// An access of an operation: a rectangle of elements of one array. Offset and element
/// are in bytes.
struct Access {
  int64_t array, ld, row, col, rows, cols, offset, element;
  bool writes;
  size_t op;
};

bool overlap(const Access& x, const Access& y) {
  if (x.array < 0 && y.array < 0)  // rectangles of a user's matrix
    return x.row < y.row + y.rows && y.row < x.row + x.rows && x.col < y.col + y.cols &&
           y.col < x.col + x.cols;
  const auto begin = [](const Access& a) {
    return a.offset + (a.row + a.col * a.ld) * a.element;
  };
  const auto end = [&](const Access& a) {
    return begin(a) + (a.rows + (a.cols - 1) * a.ld) * a.element;
  };
  return begin(x) < end(y) && begin(y) < end(x);
}

void add_access(const Plan& plan, const View& v, bool writes, size_t op,
                std::map<int64_t, std::vector<Access>>& all) {
  if (v.rows == 0 || v.cols == 0) return;
  const Buffer& b = plan.buffer(v.buffer);
  if (b.in_arena) {
    all[b.memory.value].push_back({b.memory.value, b.ld, v.row, v.col, v.rows, v.cols,
                                   b.offset, b.element(), writes, op});
    return;
  }
  const int64_t array = -1 - b.tensor.value,  // rows and columns of the whole matrix
      first = b.offset / b.element();
  all[array].push_back({array, b.ld, v.row + first % b.ld, v.col + first / b.ld, v.rows,
                        v.cols, 0, b.element(), writes, op});
}

}  // namespace

Matrices integer_matrices(const GemmProblem& p, uint64_t seed) {
  std::mt19937_64 random{seed};
  return {filled(p.lda, p.cols_a(), random), filled(p.ldb, p.cols_b(), random),
          filled(p.ldc, p.n, random)};
}

std::vector<double> reference(const GemmProblem& p, const Matrices& matrices) {
  std::vector<double> c = matrices.c;
  for (int64_t j = 0; j < p.n; ++j)
    for (int64_t i = 0; i < p.m; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < p.k; ++k)
        sum +=
            matrices.a[p.trans_a == Trans::no ? at(i, k, p.lda) : at(k, i, p.lda)] *
            (p.has_b()
                 ? matrices.b[p.trans_b == Trans::no ? at(k, j, p.ldb) : at(j, k, p.ldb)]
                 : 1);
      double& cell = c[at(i, j, p.ldc)];
      cell = test::stored(p.alpha * sum + (p.beta == 0 ? 0.0 : p.beta * cell), p.dtype);
    }
  return c;
}

Matrices interpreted(const Plan& plan, Matrices matrices, uint64_t seed) {
  Machine machine{plan, matrices};
  const size_t count = plan.ops.size();
  std::vector<size_t> waiting(count, 0);
  std::vector<std::vector<size_t>> successors(count);
  const auto before = queue_predecessors(plan);
  for (size_t i = 0; i < count; ++i) {
    if (before[i] < count) successors[before[i]].push_back(i), ++waiting[i];
    for (const OpId dep : plan.deps_of(OpId{i}))
      successors[dep.index()].push_back(i), ++waiting[i];
  }
  std::set<size_t> ready;
  for (size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.insert(i);
  std::mt19937_64 random{seed};
  while (!ready.empty()) {
    auto chosen = ready.begin();
    if (seed == 1) chosen = std::prev(ready.end());
    if (seed > 1) std::advance(chosen, ptrdiff_t(random() % ready.size()));
    const size_t op = *chosen;
    ready.erase(chosen);
    machine.run(plan.ops[op]);
    for (const size_t next : successors[op])
      if (--waiting[next] == 0) ready.insert(next);
  }
  return matrices;
}

std::vector<double> interpret(const Plan& plan, Matrices matrices, uint64_t seed) {
  matrices = interpreted(plan, std::move(matrices), seed);
  return *std::array{&matrices.a, &matrices.b, &matrices.c}[plan.tensors.size() - 1];
}

std::string find_race(const Plan& plan) {
  const size_t count = plan.ops.size();
  const auto before = queue_predecessors(plan);
  std::vector<std::vector<bool>> happens_before(count);  // [i][j]: j is ordered before i
  std::map<int64_t, std::vector<Access>> accesses;
  for (size_t i = 0; i < count; ++i) {
    auto& past = happens_before[i];
    past.assign(i, false);
    const auto inherit = [&](size_t from) {
      past[from] = true;
      for (size_t j = 0; j < from; ++j)
        if (happens_before[from][j]) past[j] = true;
    };
    if (before[i] < count) inherit(before[i]);
    for (const OpId dep : plan.deps_of(OpId{i})) inherit(dep.index());
    const Op& op = plan.ops[i];
    for (size_t j = 0; j < plan.operands_of(op).size(); ++j) {
      const bool written = writes(op.kind, j);
      if (written || reads(op, j))
        add_access(plan, plan.operands_of(op)[j], written, i, accesses);
    }
  }
  for (const auto& [array, list] : accesses)
    for (size_t x = 0; x < list.size(); ++x)
      for (size_t y = x + 1; y < list.size(); ++y) {
        const size_t low = std::min(list[x].op, list[y].op),
                     high = std::max(list[x].op, list[y].op);
        if (low == high || (!list[x].writes && !list[y].writes) ||
            !overlap(list[x], list[y]))
          continue;
        if (!happens_before[high][low])
          return "operations " + std::to_string(low) + " and " + std::to_string(high) +
                 " touch the same bytes";
      }
  return {};
}

double least_bytes(const Plan& plan) {
  const GemmProblem& p = plan.gemm();
  const auto away = [&](const Layout& place) {
    return !place.is_replicated() &&
           std::ranges::none_of(plan.devices,
                                [&](MemoryId device) { return place.has(device); });
  };
  const auto size = [&](int64_t rows, int64_t cols) {
    return double(rows * cols * element_size(p.dtype));
  };
  const bool product = p.has_product();
  if (p.m == 0 || p.n == 0 || (!product && p.beta == 1)) return 0;
  double bytes = 0;
  if (product && away(p.place_a)) bytes += size(p.m, p.k);
  if (product && p.has_b() && away(p.place_b)) bytes += size(p.k, p.n);
  if (away(p.place_c)) bytes += size(p.m, p.n) * (p.beta == 0 ? 1 : 2);
  return bytes;
}

double moved_bytes(const Plan& plan) {
  double bytes = 0;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy) bytes += copy_bytes(plan, op).value;
  return bytes;
}

}  // namespace tilerail::testing
