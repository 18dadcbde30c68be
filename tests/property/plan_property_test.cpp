// Properties of every plan, on random problems, machines and policies. RapidCheck reads RC_PARAMS; without it, the
// tests use a fixed seed and the number of cases below, so that a failure can be run again.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <functional>
#include <set>
#include <sstream>

#include "backends/host/run/host_executor.hpp"
#include "backends/sim/sim_executor.hpp"
#include "plan/json.hpp"
#include "plan/validate.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/plan_interpreter.hpp"
#include "tests/support/random_cases.hpp"

namespace tilerail::testing {
namespace {

const bool defaults_set = [] {
  setenv("RC_PARAMS", "max_success=2000 max_size=60 seed=20241", 0);
  return true;
}();

template <class T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

/// One of the values that a field accepts, from the program's own words: "on, off", "auto, 1 to 64". Of a range, an end
/// or something near the lower end, where the special cases are.
std::string random_value(const std::string& accepted) {
  std::vector<std::string> values;
  std::istringstream items{accepted};
  for (std::string item; std::getline(items >> std::ws, item, ',');) {
    const auto to = item.find(" to ");
    values.push_back(item.substr(0, to));
    if (to == std::string::npos) continue;
    values.push_back(item.substr(to + 4));
    const double low = std::stod(values[values.size() - 2]), high = std::stod(values.back());
    for (const double step : {1, 2, 7})
      if (low + step < high) values.push_back(std::to_string(static_cast<int>(low + step)));
  }
  return *rc::gen::elementOf(values);
}

/// A preset with every third field changed. Left alone: what is drawn to go with the problem and the machine, and how
/// long the judging of plans may take.
Policy random_policy() {
  Policy p = preset(*rc::gen::elementOf(preset_names()));
  const std::set<std::string> apart{"tile", "memory-fraction", "select-ms"};
  for (const PolicyField& field : fields_of(p)) {
    if (apart.contains(field.key) || !*rc::gen::weightedElement<bool>({{1, true}, {2, false}})) continue;
    apply_override(p, field.key + "=" + random_value(field.accepted));
  }
  p.tile = pick<std::int64_t>({0, 3, 8, 16, 25});
  return p;
}

std::string describe(const Case& c) {
  const GemmProblem& p = c.problem;
  std::ostringstream text;
  text << to_string(p.routine) << " " << to_string(p.dtype) << " " << name_of(c.policy) << " tile " << c.policy.tile
       << " m " << p.m << " n " << p.n << " k " << p.k << " ld " << p.lda << "," << p.ldb << "," << p.ldc << " trans "
       << to_string(p.trans_a) << to_string(p.trans_b) << " alpha " << p.alpha << " beta " << p.beta << " place "
       << p.place_a.value << ":" << p.place_b.value << ":" << p.place_c.value << " devices";
  for (const MemoryId d : c.devices) text << " " << d.value;
  return text.str();
}

/// A GEMM, or every third time a routine of vectors, in its own sizes.
GemmProblem random_sizes(const std::function<std::int64_t()>& extent) {
  GemmProblem p;
  switch (*rc::gen::weightedElement<Routine>(
      {{6, Routine::gemm}, {1, Routine::gemv}, {1, Routine::dot}, {1, Routine::axpy}})) {
    case Routine::gemv:
      return gemv_problem(extent(), extent(), pick({Trans::no, Trans::yes}));
    case Routine::dot:
      return dot_problem(extent());
    case Routine::axpy:
      return axpy_problem(extent());
    case Routine::gemm:
      p.m = extent(), p.n = extent(), p.k = extent();
      p.trans_a = pick({Trans::no, Trans::yes}), p.trans_b = pick({Trans::no, Trans::yes});
  }
  return p;
}

GemmProblem random_problem(int gpus) {
  const auto extent = [] {
    return *rc::gen::weightedOneOf<std::int64_t>(
        {{1, rc::gen::just<std::int64_t>(0)}, {20, rc::gen::inRange<std::int64_t>(1, 60)}});
  };
  GemmProblem p = random_sizes(extent);
  p.alpha = pick<double>({1, 1, 1, -2, 0}), p.beta = p.routine == Routine::dot ? 0 : pick<double>({1, 0, 3});
  const auto place = [gpus] { return MemoryId{pick({0, 0, 0, 1, *rc::gen::inRange(1, gpus + 1)})}; };
  p.place_a = place(), p.place_b = place(), p.place_c = place();
  const auto ld = [](std::int64_t rows) { return std::max<std::int64_t>(1, rows) + pick<std::int64_t>({0, 0, 5}); };
  p.lda = ld(p.rows_a()), p.ldb = ld(p.rows_b()), p.ldc = ld(p.m);
  return p;
}

/// GPUs that hold the matrices placed on them, and beside those everything (1 in 3) or only a few tiles.
Topology random_machine(const Case& c, int gpus) {
  const std::int64_t tile = c.policy.tile > 0 ? c.policy.tile : 64;
  const GemmProblem& p = c.problem;
  const std::int64_t element = element_size(p.dtype);
  const std::int64_t column = (tile * element + 63) / 64 * 64;  // bytes
  const std::int64_t slot = (column * (p.of_vectors() ? 1 : tile) + 255) / 256 * 256;
  std::vector<std::int64_t> capacities;
  for (int gpu = 1; gpu <= gpus; ++gpu) {
    std::int64_t matrices = 0;
    if (p.place_a == MemoryId{gpu}) matrices += element * p.lda * p.cols_a();
    if (p.has_b() && p.place_b == MemoryId{gpu}) matrices += element * p.ldb * p.cols_b();
    if (p.place_c == MemoryId{gpu}) matrices += element * p.ldc * p.n;
    capacities.push_back(matrices + slot * pick<std::int64_t>({3, 4, 5, 7, 10, 20, 4000, 4000}));
  }
  return test_machine(capacities);
}

Case random_case(int gpus, std::initializer_list<DType> dtypes) {
  Case c;
  c.policy = random_policy();
  c.policy.memory_fraction = 1;
  for (int gpu = 1; gpu <= gpus; ++gpu)
    if (*rc::gen::arbitrary<bool>()) c.devices.push_back(MemoryId{gpu});
  if (c.devices.empty()) c.devices.push_back(MemoryId{*rc::gen::inRange(1, gpus + 1)});
  c.problem = random_problem(gpus);
  c.problem.dtype = pick(dtypes);
  c.seed = *rc::gen::inRange<std::uint64_t>(2, 1000000);
  return c;
}

/// The kernels' volume is that of the problem. Together with a right result on random matrices this says that every
/// tile of C gets every k exactly once. An axpy has additions instead of products.
void check_volume(const Plan& plan) {
  const GemmProblem& p = plan.problem;
  std::int64_t volume = 0;
  for (const Op& op : plan.ops) {
    if (p.routine == Routine::axpy && op.kind == OpKind::axpby && reads_a(op)) volume += op.y.rows;
    if (op.kind == OpKind::gemm) volume += op.y.rows * op.y.cols * (op.trans_a == Trans::no ? op.a.cols : op.a.rows);
  }
  RC_ASSERT(volume == (p.alpha == 0 ? 0 : p.m * p.n * p.k));
}

void check_capacity(const Plan& plan, const Topology& machine) {
  for (std::size_t i = 0; i < plan.peak_bytes.size(); ++i)
    if (machine.memories()[i].capacity)
      RC_ASSERT(static_cast<double>(plan.peak_bytes[i]) <= machine.memories()[i].capacity->value);
}

void check_order(const Plan& plan, const Timeline& timeline) {
  RC_ASSERT(timeline.ops.size() == plan.ops.size());
  constexpr double rounding = 1e-12;
  std::vector<double> queue_end(plan.queues.size(), 0.0);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const OpTime& t = timeline.ops[i];
    RC_ASSERT(t.end >= t.start);
    RC_ASSERT(t.start >= queue_end[plan.ops[i].queue.index()] - rounding);
    for (const OpId dep : plan.deps_of(OpId{i})) RC_ASSERT(t.start >= timeline.ops[dep.index()].end - rounding);
    queue_end[plan.ops[i].queue.index()] = t.end;
  }
}

TEST(PlanProperties, HoldOnRandomProblemsInTheSimulator) {
  EXPECT_TRUE(rc::check("plans are legal, complete, race-free and right", [] {
    const int gpus = *rc::gen::inRange(1, 9);
    const Case c = random_case(gpus, {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
    RC_LOG() << describe(c) << std::endl;
    const Topology machine = random_machine(c, gpus);
    const Plan plan = plan_gemm(c.problem, machine, c.devices, c.policy);
    validate(plan, machine);
    check_capacity(plan, machine);
    check_volume(plan);
    RC_ASSERT(moved_bytes(plan) >= least_bytes(plan));
    if (plan.ops.size() < 1500) RC_ASSERT(find_race(plan) == "");
    const Matrices data = integer_matrices(plan.problem, c.seed);
    const std::vector<double> expected = reference(plan.problem, data);
    for (const std::uint64_t order : {std::uint64_t{0}, std::uint64_t{1}, c.seed})
      RC_ASSERT(interpret(plan, data, order) == expected);
    RC_ASSERT(content_hash(plan_gemm(c.problem, machine, c.devices, c.policy)) == content_hash(plan));
    RC_ASSERT(content_hash(plan_from_json(to_json(plan), "plan.json")) == content_hash(plan));
    SimExecutor simulator{machine};
    check_order(plan, simulator.execute(plan));
  }));
}

TEST(PlanProperties, HoldOnRandomProblemsOnTheHost) {
  EXPECT_TRUE(rc::check("the host backend keeps the order and gets the result right", [] {
    const int gpus = *rc::gen::inRange(1, 5);
    const Case c = random_case(gpus, {DType::f64});
    RC_LOG() << describe(c) << std::endl;
    const Topology machine = random_machine(c, gpus);
    const Plan plan = plan_gemm(c.problem, machine, c.devices, c.policy);
    Matrices data = integer_matrices(plan.problem, c.seed);
    const std::vector<double> expected = reference(plan.problem, data);
    HostOptions options;
    options.workers = 2;
    options.poison = true;
    HostExecutor host{machine, options};
    host.set_matrices({data.a.data(), data.b.data(), data.c.data()});
    check_order(plan, host.execute(plan));
    RC_ASSERT(data.c == expected);
  }));
}

}  // namespace
}  // namespace tilerail::testing
