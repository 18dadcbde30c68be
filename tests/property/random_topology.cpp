// Machines with random figures: links, routes, groups, engines, kernels and their load.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/property/random_cases.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

using small_machine::giga;
using small_machine::micro;
using Description = Topology::Description;
using Links = std::pair<LinkId, LinkId>;  // both directions

bool chance(int percent) { return *rc::gen::inRange(0, 100) < percent; }
double gigabytes() { return pick<double>({1, 2, 5, 10, 20, 40, 100, 400}); }

/// Rates that rise, fall or do both.
CapacityCurve random_curve() {
  CapacityCurve curve;
  double copies = 1;
  for (int points = *rc::gen::inRange(1, 4); points > 0;
       --points, copies += pick<double>({1, 2, 5}))
    curve.points.push_back({copies, Rate{gigabytes() * giga}});
  return curve;
}

/// The kind of a machine. Latencies and overheads: zero, half of the time. Width of the
/// links: often so wide that they do not hide groups, engines and kernels.
struct Scale {
  bool none = chance(50);
  double wider = pick<double>({1, 1, 30, 1000});
  double microseconds(std::initializer_list<double> values) const {
    return none ? 0 : pick(values);
  }
};

Links joined(Description& d, const std::string& from, const std::string& to,
             const Scale& scale) {
  const Links links = small_machine::add_links(d, from, to, scale.wider * gigabytes(),
                                               scale.microseconds({1, 300, 5000}));
  for (const LinkId link : {links.first, links.second})
    if (chance(15))
      d.links[link.index()].per_flow = Rate{scale.wider * gigabytes() * giga};
  return links;
}

void add_groups(Description& d, const std::vector<Links>& links) {
  for (int group = *rc::gen::inRange(0, 4); group > 0; --group) {
    std::vector<LinkId> forward, backward;
    const bool two_sides = chance(60);
    for (int left = *rc::gen::inRange(1, 4); left > 0; --left) {
      auto [there, back] = links[*rc::gen::inRange<size_t>(0, links.size())];
      if (std::ranges::find(forward, there) != forward.end()) continue;
      if (two_sides && chance(20)) std::swap(there, back);
      if (std::ranges::find(backward, there) != backward.end() ||
          std::ranges::find(forward, there) != forward.end())
        continue;
      forward.push_back(there);
      if (two_sides) backward.push_back(back);
    }
    CapacityGroup& made =
        small_machine::add_group(d, "q" + std::to_string(group), forward, backward);
    if (!two_sides || chance(80)) made.capacity = random_curve();
    if (two_sides && (!made.capacity || chance(70))) made.both_busy = random_curve();
    if (made.both_busy && chance(40)) made.forward_share = pick({0.3, 0.5, 0.8});
  }
}

void add_load(GemmCurve& curve) {
  double duty = pick({0.0, 0.3, 0.6});
  for (int points = *rc::gen::inRange(1, 4); points > 0 && duty <= 1;
       --points, duty += pick({0.1, 0.2, 0.4}))
    curve.sustained.push_back({duty, pick({1.0, 1.0, 1.1, 1.7, 3.0})});
  if (!chance(30)) return;
  curve.sustained_after = Seconds{pick({0.0, 1e-4, 1e-2})};
  curve.sustained_at_first = pick({0.0, 0.5}),
  curve.sustained_fully_after = Seconds{pick({1e-3, 1e-1})};
}

GemmCurve random_gemms(DType dtype, bool tiled, const Scale& scale) {
  const double peak = pick<double>({0.01, 0.5, 5, 50, 500});  // TFLOP/s
  GemmCurve curve = small_machine::gemms(dtype, {{1, peak}});
  if (chance(50))
    curve =
        small_machine::gemms(dtype, {{16, 0.2 * peak}, {256, 0.7 * peak}, {1024, peak}});
  if (tiled) {
    curve.points.clear();
    TiledGemm& rule = curve.tiled.emplace();
    rule.launch = Seconds{scale.microseconds({1, 4}) * micro},
    rule.peak = FlopRate{peak * 1e12};
    rule.fill = pick<double>({0, 70}),
    rule.reduction = Seconds{scale.microseconds({1}) * micro};
    rule.blocks = {{64, 64, 0.7}, {128, 256, 1}};
    if (chance(50)) {  // a measured shape, faster or slower than the rule
      const double side = pick<double>({100, 500, 2000}),
                   rate = pick({0.3, 0.8, 1.4}) * peak * 1e12;
      rule.shapes = {{side, side, side, Seconds{2 * side * side * side / rate}}};
    }
    if (chance(30)) rule.fills = {{100, 0.2}, {1000, pick({0.4, 1.0})}};
    if (chance(30))
      rule.in_graph = {
          {100, Seconds{scale.microseconds({1, 50}) * micro}, pick({0.1, 0.9})}};
  }
  if (chance(60)) add_load(curve);
  if (chance(20)) curve.alignment = {{8, 1.5}, {32, 1.1}};
  curve.source = "s";
  return curve;
}

KernelTimes random_kernels(const std::string& name, const Scale& scale) {
  KernelTimes kernels;
  kernels.name = name, kernels.source = "s";
  kernels.launch = Seconds{scale.microseconds({0.1, 3}) * micro};
  if (chance(20)) kernels.regain = Seconds{scale.microseconds({1, 300}) * micro};
  kernels.multiprocessors = pick<double>({1, 4, 16});
  kernels.block_m = kernels.block_n =
      pick<double>({1, 16, 64, 1e9});  // 1e9: a worker of a host
  kernels.k_overhead = pick<double>({0, 0, 64});
  if (chance(80))
    kernels.memory_bandwidth = Rate{pick<double>({50, 500, 500, 5000, 100000}) * giga};
  const bool tiled = kernels.memory_bandwidth && chance(30);
  for (const DType dtype : dtypes)
    kernels.gemm.push_back(random_gemms(dtype, tiled, scale));
  return kernels;
}

void draw_engines(Memory& memory) {
  for (auto* engines : {&memory.processor->engines.h2d, &memory.processor->engines.d2h,
                        &memory.processor->engines.peer})
    if (chance(70)) *engines = pick({1, 1, 2, 3});
  if (chance(10)) memory.processor->engines.total = pick({1, 2, 4});
}

std::string numbered(const char* name, int number) {
  return name + std::to_string(number);
}

}  // namespace

/// Hosts h0, h1 ..., each with a switch, and all switches connected; GPUs on the
/// switches, some with direct links. Copies from a GPU to such a neighbour on the same
/// switch can be split over both routes.
Topology random_topology(int hosts, int gpus) {
  std::vector<std::string> switches;
  for (int host = 0; host < hosts; ++host) switches.push_back(numbered("s", host));
  const auto home = [&](int gpu) { return size_t(gpu % hosts); };
  Description d = small_machine::unlinked("h0", "g", gpus, switches);
  d.name = "drawn";
  for (int host = 1; host < hosts; ++host)
    small_machine::add_host(d, numbered("h", host));
  const Scale scale;
  d.kernels = {random_kernels("k0", scale), random_kernels("k1", scale)};
  for (Memory& memory : d.memories)
    if (memory.kind == VertexKind::host && chance(30)) {
      memory.processor.emplace().kernels = pick<size_t>({0, 1});
      memory.processor->idle_watts = Watts{50}, memory.processor->busy_watts = Watts{90};
      if (chance(50)) memory.processor->engines.total = pick({1, 2, 4});
    }
  std::vector<Links> links, of_gpu;
  for (int host = 0; host < hosts; ++host) {
    links.push_back(joined(d, numbered("h", host), switches[size_t(host)], scale));
    for (int other = 0; other < host; ++other)
      links.push_back(joined(d, numbered("s", other), numbered("s", host), scale));
  }
  for (int gpu = 0; gpu < gpus; ++gpu) {
    Memory& memory = d.memories[size_t(1 + gpu)];
    memory.processor->kernels = pick<size_t>({0, 1});
    memory.processor->idle_watts = Watts{50}, memory.processor->busy_watts = Watts{300};
    draw_engines(memory);
    links.push_back(joined(d, memory.name, switches[home(gpu)], scale));
    of_gpu.push_back(links.back());
  }
  for (int to = 1; to < gpus; ++to) {
    const int from = *rc::gen::inRange(0, to);
    if (chance(40)) continue;
    links.push_back(joined(d, numbered("g", from), numbered("g", to), scale));
    if (home(from) != home(to) || chance(60)) continue;
    const auto [out, unused_in] = of_gpu[size_t(from)];
    const auto [unused_out, in] = of_gpu[size_t(to)];
    const MemoryId src{1 + from}, dst{1 + to};
    d.routes.push_back({src, dst, {links.back().first}, "s"});
    d.routes.push_back({src, dst, {out, in}, "s"});
  }
  add_groups(d, links);
  const auto cost = [&] { return Seconds{scale.microseconds({0, 0.1, 2}) * micro}; };
  if (chance(30)) d.issue.hand_on = cost();
  if (chance(50)) d.issue.graph = GraphCost{cost(), cost(), cost(), cost(), cost()};
  if (d.issue.hand_on > Seconds{0} || d.issue.graph) d.issue.source = "s";
  return Topology{std::move(d)};
}

}  // namespace tilerail::testing
