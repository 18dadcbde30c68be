// Plan files with random changes: they are refused, or every operation stays inside its
// buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/host/run/host_executor.hpp"
#include "model/base/error.hpp"
#include "plan/buffer_start.hpp"
#include "plan/validate.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/plan_interpreter.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/split_hosts.hpp"

namespace tilerail::testing {
namespace {

using nlohmann::json;
using Random = std::mt19937_64;

constexpr int64_t most_elements = 1 << 20;  // of matrices and arenas that are allocated

/// All numbers and texts of a plan that executors use.
void collect(json& value, std::vector<json*>& leaves) {
  if (!value.is_structured()) return leaves.push_back(&value);
  for (json& part : value) collect(part, leaves);
}

int64_t other_number(int64_t old, Random& random) {
  const int64_t large = int64_t{1} << (random() % 63);
  const uint64_t wrapping = uint64_t(old);  // the largest number has a neighbour, too
  const std::array<int64_t, 9> values{0,
                                      1,
                                      int64_t(wrapping + 1),
                                      int64_t(wrapping - 1),
                                      int64_t(2 * wrapping),
                                      old / 2,
                                      large,
                                      int64_t(random() % 64),
                                      std::numeric_limits<int64_t>::max()};
  return values[random() % values.size()];
}

/// Usually a word that is valid in its place.
std::string other_text(const std::string& old, Random& random) {
  static const std::vector<std::vector<std::string>> groups{
      {"f64", "f32", "f16", "bf16", "tf32"},
      {"NN", "TT", "NT", "TN"},
      {"zero", "one", "alpha", "beta"},
      {"A", "B", "C", "tile"},
      {"copy", "gemm", "axpby", "join"},
      {"copy", "compute"},
      {"N", "T"}};
  const auto holds_old = [&](const auto& group) {
    return std::ranges::find(group, old) != group.end();
  };
  const auto own = std::ranges::find_if(groups, holds_old);
  const auto& group =
      own != groups.end() && random() % 8 != 0 ? *own : groups[random() % groups.size()];
  return group[random() % group.size()];
}

void mutate(json& plan, Random& random) {
  constexpr std::array parts{"buffers", "buffers", "ops",     "ops",
                             "ops",     "queues",  "problem", "peak_bytes"};
  std::vector<json*> leaves;
  collect(plan[parts[random() % parts.size()]], leaves);
  json& leaf = *leaves[random() % leaves.size()];
  if (leaf.is_number_integer()) leaf = other_number(leaf.get<int64_t>(), random);
  if (leaf.is_string()) leaf = other_text(leaf.get<std::string>(), random);
}

/// The plan of a changed file with a corrected hash; nothing if it is refused.
std::optional<Plan> read_again(json& file) {
  for (int attempt = 0; attempt < 2; ++attempt) try {
      return plan_from_json(file.dump(), "plan.json");
    } catch (const InputError& error) {
      if (error.place != "plan.json: /hash") return std::nullopt;
      file["hash"] = error.expected;
    }
  return std::nullopt;
}

/// Checks the offsets that executors compute, from the first byte of a view to the last.
bool is_inside(const Plan& plan, const View& view) {
  if (view.rows == 0 || view.cols == 0) return true;
  const Buffer& buffer = plan.buffer(view.buffer);
  const GemmProblem& p = plan.gemm();
  const auto bytes = [&](int64_t rows, int64_t cols, int64_t ld) {
    return rows == 0 || cols == 0 ? 0 : ((cols - 1) * ld + rows) * element_size(p.dtype);
  };
  const std::array room{bytes(p.rows_a(), p.cols_a(), p.lda),
                        bytes(p.rows_b(), p.cols_b(), p.ldb), bytes(p.m, p.n, p.ldc),
                        plan.peak_bytes[buffer.memory.index()]};
  const int64_t begin =
      buffer.offset + (view.row + view.col * buffer.ld) * buffer.element();
  const int64_t end =
      begin + (view.rows + (view.cols - 1) * buffer.ld) * buffer.element();
  return begin >= 0 && end <= room[buffer.in_arena ? 3 : buffer.tensor.index()];
}

std::optional<size_t> first_outside(const Plan& plan) {
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    if (op.kind == OpKind::join) continue;
    for (size_t j = 0; j < plan.operands_of(op).size(); ++j)
      if ((reads(op, j) || writes(op.kind, j)) &&
          !is_inside(plan, plan.operands_of(op)[j]))
        return i;
  }
  return std::nullopt;
}

bool is_small(const Plan& plan) {
  const GemmProblem& p = plan.gemm();
  for (const auto& [ld, cols] :
       {std::pair{p.lda, p.cols_a()}, {p.ldb, p.cols_b()}, {p.ldc, p.n}})
    if (cols > 0 && ld > most_elements / cols) return false;
  for (const int64_t bytes : plan.peak_bytes)
    if (bytes > most_elements) return false;
  return p.m * p.n <= most_elements && p.k <= most_elements;
}

/// std::vector::at checks elements of vectors, so that accesses beyond the end fail.
void run(const Plan& plan, HostExecutor& host) {
  Matrices data = integer_matrices(plan.gemm(), 3);
  interpret(plan, data, 0);
  if (plan.dtype() != DType::f64) return;
  host.set_matrices({data.a.data(), data.b.data(), data.c.data()});
  try {
    host.execute(plan);
  } catch (const InputError&) {  // for another machine, or not executable
  }
}

struct Count {
  int refused = 0, read = 0, run = 0;
};

Count try_mutations(const Plan& plan, const Topology& machine, int mutations,
                    uint64_t seed) {
  const json original = json::parse(to_json(plan));
  HostExecutor host{machine, {.workers = 2, .poison = true}};
  Random random{seed};
  Count count;
  for (int i = 0; i < mutations; ++i) {
    json file = original;
    for (size_t changes = 1 + random() % 2; changes > 0; --changes) mutate(file, random);
    const std::optional<Plan> changed = read_again(file);
    ++(changed ? count.read : count.refused);
    if (!changed) continue;
    if (const auto outside = first_outside(*changed)) {
      ADD_FAILURE() << "mutation " << i << ": operation " << *outside
                    << " leaves its buffers\n"
                    << file.dump();
      return count;
    }
    if (!is_small(*changed)) continue;
    ++count.run;
    EXPECT_NO_THROW(run(*changed, host)) << "mutation " << i << "\n" << file.dump();
  }
  return count;
}

TEST(MutatedPlans, AreRefusedOrStayInsideTheirBuffers) {
  const Topology machine{small_machine::split_hosts(2)};
  for (const auto& [name, dtype] : {std::pair{"tilerail", DType::f64},
                                    {"cublasxt", DType::f32},
                                    {"xkblas", DType::f64},
                                    {"tilerail", DType::f32}}) {
    SCOPED_TRACE(name);
    GemmProblem p;
    p.dtype = dtype;
    p.m = 24, p.n = 20, p.k = 28, p.beta = 0.5, p.lda = 40, p.ldb = 41, p.ldc = 42,
    p.trans_b = Trans::yes;
    p.place_a = machine.gpus()[0], p.place_b = machine.gpus()[2],
    p.place_c = machine.gpus()[1];
    Policy policy = any_preset(name);
    policy.choices.tile = 12, policy.effort = Effort::fast;
    const Plan plan = plan_gemm(p, machine, machine.gpus(), policy);
    const Count count = try_mutations(plan, machine, 1000, 17);
    EXPECT_GT(count.refused, 250);
    EXPECT_GT(count.read, 50);
    EXPECT_GT(count.run, 10);
  }
}

}  // namespace
}  // namespace tilerail::testing
