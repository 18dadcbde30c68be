#include "tests/factor/factored.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/halves.hpp"

namespace tilerail::testing {
namespace {

/// A dense column-major matrix.
struct Dense {
  int64_t rows, cols;
  std::vector<double> data = std::vector<double>(size_t(rows * cols));
  double& operator()(int64_t r, int64_t c) { return data[size_t(r + c * rows)]; }
  double operator()(int64_t r, int64_t c) const { return data[size_t(r + c * rows)]; }
};

double norm(const Dense& x) {
  double sum = 0;
  for (const double element : x.data) sum += element * element;
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : std::sqrt(sum);
}

/// x^T x minus the identity.
Dense gram_error(const Dense& x) {
  Dense error{x.cols, x.cols};
  for (int64_t c = 0; c < x.cols; ++c)
    for (int64_t r = 0; r < x.cols; ++r) {
      error(r, c) = r == c ? -1 : 0;
      for (int64_t k = 0; k < x.rows; ++k) error(r, c) += x(k, r) * x(k, c);
    }
  return error;
}

/// c = Q c.
class Reflectors {
 public:
  Reflectors(const Plan& plan, const Factors& after) : plan_{plan}, after_{after} {}

  void apply(Dense& c) const {
    for (size_t i = plan_.ops.size(); i-- > 0;) {
      const Op& op = plan_.ops[i];
      const auto x = plan_.operands_of(op);
      if (op.kind == OpKind::geqrt) apply(in_tensor(x[0]), {}, in_tensor(x[1]), c);
      if (op.kind == OpKind::tsqrt)
        apply(in_tensor(x[0]), in_tensor(x[1]), in_tensor(x[2]), c);
    }
  }

 private:
  View in_tensor(View v) const {
    const Buffer& buffer = plan_.buffer(v.buffer);
    v.row += buffer.row, v.col += buffer.col;
    return v;
  }
  double element(TensorId tensor, int64_t row, int64_t col) const {
    const auto& data = tensor.value == 0 ? after_.a : after_.t;
    return data.at(size_t(row + col * plan_.tensor(tensor).ld));
  }
  void apply(const View& t, const View& r, const View& y, Dense& c) const {
    const bool stacked = r.rows > 0;
    for (int64_t j = t.cols; j-- > 0;) {
      const double tau = element(TensorId{1}, t.row + j % t.rows, t.col + j);
      const int64_t one = (stacked ? r.row : y.row) + j,
                    from = stacked ? y.row : y.row + j + 1;
      for (int64_t col = 0; col < c.cols; ++col) {
        double sum = c(one, col);
        for (int64_t k = from; k < y.row + y.rows; ++k)
          sum += element(TensorId{0}, k, y.col + j) * c(k, col);
        c(one, col) -= tau * sum;
        for (int64_t k = from; k < y.row + y.rows; ++k)
          c(k, col) -= tau * sum * element(TensorId{0}, k, y.col + j);
      }
    }
  }

  const Plan& plan_;
  const Factors& after_;
};

Dense from(const Plan& plan, const std::vector<double>& a, bool symmetric) {
  Dense x{plan.tensors[0].rows, plan.tensors[0].cols};
  for (int64_t c = 0; c < x.cols; ++c)
    for (int64_t r = 0; r < x.rows; ++r)
      x(r, c) = symmetric && r < c ? at(plan, a, c, r) : at(plan, a, r, c);
  return x;
}

double qr_residual(const Plan& plan, const Dense& before, const Factors& after,
                   double unit) {
  Dense qr{before.rows, before.cols}, q{before.rows, before.rows};
  for (int64_t c = 0; c < qr.cols; ++c)
    for (int64_t r = 0; r <= std::min(c, qr.rows - 1); ++r)
      qr(r, c) = at(plan, after.a, r, c);
  for (int64_t i = 0; i < q.rows; ++i) q(i, i) = 1;
  const Reflectors reflectors{plan, after};
  reflectors.apply(qr);
  reflectors.apply(q);
  for (size_t i = 0; i < qr.data.size(); ++i) qr.data[i] -= before.data[i];
  return std::max(norm(qr) / norm(before), norm(gram_error(q))) / unit;
}

double cholesky_residual(const Plan& plan, const Dense& before, const Factors& after,
                         double unit) {
  Dense left = before;
  for (int64_t c = 0; c < left.cols; ++c)
    for (int64_t r = 0; r < left.rows; ++r)
      for (int64_t k = 0; k <= std::min(r, c); ++k)
        left(r, c) -= at(plan, after.a, r, k) * at(plan, after.a, c, k);
  return norm(left) / norm(before) / unit;
}

}  // namespace

double at(const Plan& plan, const std::vector<double>& a, int64_t row, int64_t col) {
  return a.at(size_t(row + col * plan.tensors[0].ld));
}

Factors random_factors(const Plan& plan, uint64_t seed) {
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> element{-1, 1};
  const Tensor& a = plan.tensors[0];
  const bool definite = plan.tensors.size() == 1;
  const auto size = [](const Tensor& t) { return size_t(t.ld * t.cols); };
  Factors x{std::vector<double>(size(a)), {}};
  if (!definite)
    x.t.assign(size(plan.tensors[1]), std::numeric_limits<double>::quiet_NaN());
  for (double& v : x.a) v = test::stored(element(random), a.dtype);
  // The sum of the absolute values beside the diagonal is smaller.
  for (int64_t i = 0; i < std::min(a.rows, a.cols); ++i)
    x.a[size_t(i + i * a.ld)] += definite ? double(a.rows) : 0;
  return x;
}

double residual(const Plan& plan, const Factors& before, const Factors& after) {
  const bool is_qr = plan.tensors.size() == 2;
  const double eps = plan.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                : std::numeric_limits<float>::epsilon(),
               unit = eps * double(plan.tensors[0].rows);
  const Dense a = from(plan, before.a, !is_qr);
  return is_qr ? qr_residual(plan, a, after, unit)
               : cholesky_residual(plan, a, after, unit);
}

}  // namespace tilerail::testing
