#include "tests/property/random_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <sstream>

#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail::testing {
namespace {

const bool defaults_set = [] {
  setenv("RC_PARAMS", "max_success=2000 max_size=60 seed=20241", 0);
  return true;
}();

/// One of the values that a field accepts, with some of its parameters; a number is an
/// end of its range or a value near the lower end, for the special cases there.
std::string random_value(const PolicyField& field) {
  const size_t numbers = field.range ? 1 : 0;
  const auto which = *rc::gen::inRange<size_t>(0, field.values.size() + numbers);
  if (which == field.values.size()) {
    const auto [low, high] = *field.range;
    std::vector<double> values{low, high};
    for (const double step : {1, 2, 7})
      if (low + step < high) values.push_back(std::floor(low + step));
    return fmt::format("{}", *rc::gen::elementOf(values));
  }
  const PolicyValue& value = field.values[which];
  std::vector<std::string> parameters;
  for (const PolicyField& parameter : value.parameters)
    if (*rc::gen::arbitrary<bool>())
      parameters.push_back(parameter.key + "=" + random_value(parameter));
  return parameters.empty()
             ? value.name
             : fmt::format("{}({})", value.name, fmt::join(parameters, ","));
}

}  // namespace

Policy random_policy() {
  Policy p = any_preset(*rc::gen::elementOf(any_preset_names()));
  const std::set<std::string> apart{"tile", "memory",
                                    "warm"};  // warm affects simulations only
  for (const PolicyField& field : fields_of(p)) {
    if (apart.contains(field.key) ||
        !*rc::gen::weightedElement<bool>({{1, true}, {2, false}}))
      continue;
    apply_override(p, field.key + "=" + random_value(field));
  }
  p.choices.tile = pick<int64_t>({0, 3, 8, 16, 25});
  return p;
}

std::string describe(const Case& c) {
  const GemmProblem& p = c.problem;
  std::ostringstream text;
  text << to_string(p.routine) << " " << to_string(p.dtype) << " " << name_of(c.policy)
       << " tile " << c.policy.choices.tile << " m " << p.m << " n " << p.n << " k "
       << p.k << " ld " << p.lda << "," << p.ldb << "," << p.ldc << " trans "
       << to_string(p.trans_a) << to_string(p.trans_b) << " alpha " << p.alpha << " beta "
       << p.beta << " place";
  for (const Layout* place : {&p.place_a, &p.place_b, &p.place_c})
    for (const MemoryId member : place->members())
      text << (member == place->home() ? " " : "+") << member.value;
  text << " devices";
  for (const MemoryId d : c.devices) text << " " << d.value;
  return text.str();
}

namespace {

/// A GEMM or, every third time, a routine of vectors, with its own sizes.
GemmProblem random_sizes(const std::function<int64_t()>& extent) {
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
      p.trans_a = pick({Trans::no, Trans::yes}),
      p.trans_b = pick({Trans::no, Trans::yes});
  }
  return p;
}

}  // namespace

Places places_of(const Topology& machine) {
  Places places{machine.hosts(), machine.gpus()};
  if (const auto interleaved = machine.find_memory(interleaved_name))
    places.hosts.push_back(*interleaved);
  return places;
}

namespace {

/// Of test_machine.
Places places_with(int gpus) {
  Places places{{MemoryId{0}, MemoryId{gpus + 1}, MemoryId{gpus + 2}}, {}};
  for (int i = 1; i <= gpus; ++i) places.gpus.push_back(MemoryId{i});
  return places;
}

/// Blocks over a few memories, in turns or one for each.
Layout random_layout(const Places& places, int64_t most) {
  const auto grid = pick<LayoutGrid>({{1, 2, 1}, {2, 1, 1}, {2, 2, 1}, {1, 3, 1}});
  std::vector<MemoryId> memories = places.gpus, members;
  memories.push_back(places.hosts.front());
  for (size_t i = 0; i < grid.members(); ++i)
    members.push_back(*rc::gen::elementOf(memories));
  const auto block = [&] {
    return std::max<int64_t>(1, most / pick<int64_t>({2, 3, 7}));
  };
  if (pick({false, true})) return {grid, {}, {}, std::move(members)};
  return Layout::block_cyclic(grid, block(), block(), std::move(members));
}

}  // namespace

GemmProblem random_problem(const Places& places, int64_t most) {
  const auto extent = [most] {
    return *rc::gen::weightedOneOf<int64_t>(
        {{1, rc::gen::just<int64_t>(0)}, {20, rc::gen::inRange<int64_t>(1, most)}});
  };
  GemmProblem p = random_sizes(extent);
  p.alpha = pick<double>({1, 1, 1, -2, 0}),
  p.beta = p.routine == Routine::dot ? 0 : pick<double>({1, 0, 3});
  const auto place = [&]() -> Layout {
    if (pick({false, false, false, false, true})) return random_layout(places, most);
    return pick({places.hosts.front(), places.hosts.front(), places.gpus.front(),
                 *rc::gen::elementOf(places.gpus), *rc::gen::elementOf(places.hosts)});
  };
  const auto input = [&] {
    const bool copied =
        places.gpus.size() > 1 && pick({false, false, false, false, true});
    return copied ? Layout::replicated(places.gpus) : place();
  };
  p.place_a = input(), p.place_b = input(), p.place_c = place();
  const auto ld = [](int64_t rows) {
    return std::max<int64_t>(1, rows) + pick<int64_t>({0, 0, 5});
  };
  p.lda = ld(p.rows_a()), p.ldb = ld(p.rows_b()), p.ldc = ld(p.m);
  return p;
}

Topology random_machine(const Case& c, int gpus, Switches switches) {
  const int64_t tile = c.policy.choices.tile > 0 ? c.policy.choices.tile : 64;
  const GemmProblem& p = c.problem;
  const int64_t element = element_size(p.dtype);
  const int64_t column =
      (tile * element_size(sum_type(p.dtype)) + 63) / 64 * 64;  // bytes
  const int64_t slot = (column * (p.of_vectors() ? 1 : tile) + 255) / 256 * 256;
  std::vector<int64_t> capacities;
  for (int gpu = 1; gpu <= gpus; ++gpu) {
    int64_t matrices = 0;
    const auto has = [&](const Layout& place) { return place.has(MemoryId{gpu}); };
    if (has(p.place_a)) matrices += element * p.lda * p.cols_a();
    if (p.has_b() && has(p.place_b)) matrices += element * p.ldb * p.cols_b();
    if (has(p.place_c)) matrices += element * p.ldc * p.n;
    capacities.push_back(matrices +
                         slot * pick<int64_t>({3, 4, 5, 7, 10, 20, 4000, 4000}));
  }
  return test_machine(capacities, switches);
}

namespace {

bool has_copies(const GemmProblem& p) {
  return p.place_a.is_replicated() || p.place_b.is_replicated();
}

}  // namespace

Case random_case(int gpus, std::initializer_list<DType> dtypes) {
  Case c;
  c.policy = random_policy();
  c.policy.choices.memory_fraction = 1;
  for (int gpu = 1; gpu <= gpus; ++gpu)
    if (*rc::gen::arbitrary<bool>()) c.devices.push_back(MemoryId{gpu});
  if (c.devices.empty()) c.devices.push_back(MemoryId{*rc::gen::inRange(1, gpus + 1)});
  c.problem = random_problem(places_with(gpus), 60);
  c.problem.dtype = pick(dtypes);
  if (pick({false, false, true}) && !has_copies(c.problem))
    c.devices.push_back(MemoryId{0});  // the host's cores
  c.seed = *rc::gen::inRange<uint64_t>(2, 1000000);
  return c;
}

namespace {

/// Replicas lie on every GPU, so cores have none.
const std::vector<MemoryId>& may_compute(const Topology& machine,
                                         const GemmProblem& problem) {
  return has_copies(problem) ? machine.gpus() : machine.processors();
}

}  // namespace

Case random_case_in_few_tiles(const Topology& machine) {
  Case c;
  c.policy = random_policy();
  const auto most = pick<int64_t>({3, 40, 300, 2000, 20000});
  c.problem = random_problem(places_of(machine), most);
  for (const MemoryId device : may_compute(machine, c.problem))
    if (*rc::gen::inRange(0, 4) > 0) c.devices.push_back(device);
  if (c.devices.empty()) c.devices.push_back(machine.gpus()[0]);
  c.problem.dtype =
      pick({DType::f64, DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
  for (auto* side :
       {&c.problem.m, &c.problem.n, &c.problem.k})  // also other shapes than cubes
    if (c.problem.routine == Routine::gemm && pick({false, false, true}))
      *side = std::min<int64_t>(*side, 64);
  const GemmProblem& p = c.problem;
  c.policy.choices.tile =
      std::max<int64_t>(1, std::max({p.m, p.n, p.k}) / pick({1, 2, 3, 4}));
  return c;
}

Case random_case_on(const Topology& machine) {
  Case c;
  c.policy = random_policy();
  c.policy.choices.tile = pick<int64_t>({512, 1024, 3072});
  c.problem = random_problem(places_of(machine), 6000);
  for (const MemoryId device : may_compute(machine, c.problem))
    if (*rc::gen::arbitrary<bool>()) c.devices.push_back(device);
  if (c.devices.empty()) c.devices.push_back(machine.gpus()[0]);
  c.problem.dtype = DType::f64;
  return c;
}

}  // namespace tilerail::testing
