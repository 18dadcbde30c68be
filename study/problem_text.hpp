#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "model/machine/topology.hpp"
#include "model/problem.hpp"

namespace tilerail::study {

/// A problem as specified by users, on a command line or in a cell of a table: one of
/// gemm, gemv, dot and axpy, and defaults for the rest. Subjects of errors are these
/// fields' names.
struct ProblemText {
  std::optional<std::string> gemm, gemv, dot, axpy;
  std::string dtype = "f64", alpha = "1";
  std::optional<std::string> trans_a, trans_b, beta,
      place;  // default: the routine's
  std::array<std::optional<std::string>, 3> leading;

  friend auto operator<=>(const ProblemText&, const ProblemText&) = default;
  /// The checked problem, with its matrices in memories of `topology`. Throws InputError.
  GemmProblem resolve(const Topology& topology) const;
  std::string place_or_default() const;
  /// The meaning of "h" if the machine has several host memories; "" if it is obvious.
  std::string place_note(const Topology& topology) const;

 private:
  GemmProblem sizes() const;
  void refuse_what_is_not_there(Routine routine) const;
  void put(GemmProblem& problem, const Topology& topology) const;
};

/// "h" is the first host memory. "h3" is "host3" if all hosts have such names (NUMA
/// domains), else the fourth host. "h*", "h/cols" and "h/rows" are all hosts. A number is
/// a GPU, "g*" a copy on each GPU, other texts are names of memories.
/// docs/formats.md#places. Throws InputError.
Layout place_of(std::string_view text, const Topology& topology);

/// For types up to the width of f32, kernels convert the value to f32: it must not become
/// infinite or round to 0. Throws InputError with this subject.
double coefficient(const std::string& text, DType dtype, std::string_view subject);

/// The error of a problem whose result is its input.
inline InputError changes_nothing(std::string_view subject) {
  return fault_of(subject, "changes nothing", "sizes and scalars that change a result");
}

}  // namespace tilerail::study
