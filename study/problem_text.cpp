#include "study/problem_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/machine/layout_text.hpp"

namespace tilerail::study {
namespace {

/// The operands that `place` lists.
std::string_view operands(Routine routine) {
  switch (routine) {
    case Routine::gemm:
      return "A:B:C, such as h:h:h or 0:1:h";
    case Routine::gemv:
      return "A:X:Y, such as h:h:h or 0:0:h";
    case Routine::dot:
    case Routine::axpy:
      return "X:Y, such as h:h or 0:h";
  }
  return "";
}

Trans transpose(const std::optional<std::string>& text, std::string_view subject) {
  return text ? trans_from_string(*text, subject) : Trans::no;
}

/// 0 if absent: the smallest legal value.
int64_t leading_dimension(const std::optional<std::string>& text,
                          std::string_view subject) {
  const int64_t size = text ? parse_size(*text, subject) : 0;
  if (text && size == 0) throw out_of_range(subject, *text, "at least the stored rows");
  return size;
}

/// Parses one to four digits.
std::optional<int> short_number(std::string_view text) {
  constexpr size_t most_digits = 4;
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (text.empty() || text.size() > most_digits || !digits) return std::nullopt;
  return int(parse_integer(text, "place", 0, 9999));
}

/// The host named "host3" if hosts have NUMA domains' numbers in their names, else the
/// fourth host.
std::optional<MemoryId> numbered_host(int number, const Topology& topology) {
  const auto& hosts = topology.hosts();
  if (hosts.empty()) return std::nullopt;
  const std::string& first = topology.memory(hosts.front()).name;
  if (first.starts_with("host") && first != "host")
    return topology.find_memory(fmt::format("host{}", number));
  const auto index = size_t(number);
  return index < hosts.size() ? std::optional{hosts[index]} : std::nullopt;
}

}  // namespace

Layout place_of(std::string_view text, const Topology& topology) {
  if (const auto named = topology.find_memory(text)) return *named;
  if (const auto layout = layout_from_text(text, topology)) return *layout;
  if ((text == "h" || text == interleaved_name) && !topology.hosts().empty())
    return topology.hosts().front();  // of a machine with one
  if (const auto number = short_number(text))
    if (const auto gpu = topology.find_gpu(*number)) return *gpu;
  if (const auto number =
          text.starts_with('h') ? short_number(text.substr(1)) : std::nullopt)
    if (const auto host = numbered_host(*number, topology)) return *host;
  std::vector<std::string> names;
  for (const Memory& memory : topology.memories()) names.push_back(memory.name);
  const std::string_view hosts =
      topology.hosts().size() > 1 ? "h, h and the number of a host" : "h";
  throw InputError{
      "place", text, fmt::format("is not a memory of {}", topology.name()),
      fmt::format("{}, a GPU number, a layout such as g* or grid(2x2), or one of: {}",
                  hosts, fmt::join(names, ", "))};
}

double coefficient(const std::string& text, DType dtype, std::string_view subject) {
  const double value = parse_real(text, subject);
  if (dtype == DType::f64 || value == 0) return value;
  constexpr double least = std::numeric_limits<float>::denorm_min(),
                   most = std::numeric_limits<float>::max();
  if (std::abs(value) < least || std::abs(value) > most)
    throw out_of_range(subject, text,
                       fmt::format("0 or a size of {:.3g} to {:.3g} for {} kernels",
                                   least, most, to_string(dtype)));
  return value;
}

GemmProblem ProblemText::sizes() const {
  if (gemv) {
    const auto parts = split(*gemv, ',');
    if (parts.size() != 2)
      throw InputError{"gemv", *gemv, "", "M,N, the rows and columns of A"};
    return gemv_problem(parse_size(parts[0], "gemv"), parse_size(parts[1], "gemv"),
                        transpose(trans_a, "transa"));
  }
  if (dot) return dot_problem(parse_size(*dot, "dot"));
  if (axpy) return axpy_problem(parse_size(*axpy, "axpy"));
  GemmProblem problem;
  const auto shape = parse_shape(*gemm, "gemm");
  problem.m = shape[0], problem.n = shape[1], problem.k = shape[2];
  problem.trans_a = transpose(trans_a, "transa"),
  problem.trans_b = transpose(trans_b, "transb");
  return problem;
}

/// Vectors are contiguous and have no transpose.
void ProblemText::refuse_what_is_not_there(Routine routine) const {
  if (routine == Routine::gemm) return;
  const auto refuse = [&](std::string_view subject, bool given) {
    if (given)
      throw fault_of(subject, fmt::format("has no meaning with {}", to_string(routine)),
                     "no such option");
  };
  refuse("transb", trans_b.has_value());
  refuse("ldb", leading[1].has_value());
  refuse("ldc", leading[2].has_value());
  if (routine == Routine::gemv) return;
  refuse("transa", trans_a.has_value());
  refuse("lda", leading[0].has_value());
  refuse("beta", routine == Routine::dot && beta);
}

std::string ProblemText::place_or_default() const {
  return place.value_or(dot || axpy ? "h:h" : "h:h:h");
}

std::string ProblemText::place_note(const Topology& topology) const {
  const std::string text = place_or_default();
  const auto places = split(text, ':');
  if (topology.hosts().size() < 2 || std::ranges::find(places, "h") == places.end())
    return "";
  return fmt::format("'h' is {}, one of {} host memories; {} spreads over all",
                     topology.memory(topology.hosts().front()).name,
                     topology.hosts().size(), interleaved_name);
}

void ProblemText::put(GemmProblem& problem, const Topology& topology) const {
  const std::string text = place_or_default();
  const auto places = split(text, ':');
  if (places.size() != (problem.of_vectors() ? 2 : 3))
    throw InputError{"place", text, "", operands(problem.routine)};
  const auto at = [&](size_t operand) { return place_of(places[operand], topology); };
  problem.place_a = at(0);
  problem.place_b = problem.has_b() ? at(1) : at(0);
  problem.place_c =
      problem.routine == Routine::dot ? place_of("h", topology) : at(places.size() - 1);
}

GemmProblem ProblemText::resolve(const Topology& topology) const {
  const int given = int{gemm.has_value()} + int{gemv.has_value()} + int{dot.has_value()} +
                    int{axpy.has_value()};
  if (given == 0)
    throw missing("gemm", "sizes M,N,K, or gemv (M,N), dot (N) or axpy (N)");
  if (given > 1)
    throw fault_of("gemm, gemv, dot, axpy", fmt::format("{} are given", given), "one");
  GemmProblem problem = sizes();
  refuse_what_is_not_there(problem.routine);
  problem.dtype = dtype_from_string(dtype);
  problem.alpha = coefficient(alpha, problem.dtype, "alpha");
  if (beta) problem.beta = coefficient(*beta, problem.dtype, "beta");
  put(problem, topology);
  problem.lda = leading_dimension(leading[0], "lda");
  problem.ldb = leading_dimension(leading[1], "ldb");
  problem.ldc = leading_dimension(leading[2], "ldc");
  return checked(problem);
}

}  // namespace tilerail::study
