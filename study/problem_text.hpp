#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"

namespace tilerail::study {

/// What users write of a problem, on a command line or in a cell of a table: one of gemm,
/// gemv, dot and axpy, and the rest with its defaults. Errors have the names of these
/// fields as subjects.
struct ProblemText {
  std::optional<std::string> gemm, gemv, dot, axpy;
  std::string dtype = "f64", alpha = "1";
  std::optional<std::string> trans_a, trans_b, beta,
      place;  // absent: as the routine has it
  std::array<std::optional<std::string>, 3> leading;

  /// The checked problem, with its matrices in memories of `topology`. Throws InputError.
  GemmProblem resolve(const Topology& topology) const;
  std::string place_or_default() const;
  /// What "h" is where there are several host memories; "" where that needs no word.
  std::string place_note(const Topology& topology) const;

 private:
  GemmProblem sizes() const;
  void refuse_what_is_not_there(Routine routine) const;
  void put(GemmProblem& problem, const Topology& topology) const;
};

/// "h" is the first host memory; "h3" is "host3" where all hosts are named by such
/// numbers, those of NUMA domains, else the fourth host; "h*", "h/cols" and "h/rows" are
/// all of them; a number is a GPU; "g*" is a copy on each GPU; anything else is a
/// memory's name. docs/formats.md#places. Throws InputError.
MemoryId place_of(std::string_view text, const Topology& topology);

/// Kernels of types that are no wider than f32 take it in f32, where it must be neither
/// infinite nor 0 by rounding. Throws InputError of the subject.
double coefficient(const std::string& text, DType dtype, std::string_view subject);

}  // namespace tilerail::study
