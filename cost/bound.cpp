#include "cost/bound.hpp"

#include <algorithm>
#include <cmath>

#include "cost/bound_program.hpp"
#include "model/base/contains.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// Memories at which copies may start, end or pass through: the devices, all hosts, and
/// the GPUs that hold matrices.
std::vector<MemoryId> taking_part(const GemmProblem& problem, const Topology& topology,
                                  std::span<const MemoryId> devices) {
  std::set<MemoryId> memories{devices.begin(), devices.end()};
  memories.insert(topology.hosts().begin(), topology.hosts().end());
  for (const MemoryId home : homes_of(problem))
    if (topology.is_gpu(home)) memories.insert(home);
  return {memories.begin(), memories.end()};
}

}  // namespace

BoundProgram::BoundProgram(const GemmProblem& problem, const Topology& topology,
                           std::span<const MemoryId> devices, bool warm)
    : problem_{problem},
      topology_{topology},
      devices_{devices},
      product_{!problem.scales_only()},
      has_b_{product_ && problem.has_b()},
      inputs_come_{product_ && !warm},
      memories_{taking_part(problem, topology, devices)},
      graph_{topology, memories_},
      need_{program_.add_variable(unlimited, 1)} {
  const auto m = double(problem.m), n = double(problem.n), k = double(problem.k);
  size_ = {product_ ? m * k : 0, has_b_ ? k * n : 0, m * n, m * n};
  const double largest = *std::ranges::max_element(size_);
  for (double& size : size_) size /= largest;
  unit_bytes_ = largest * double(element_size(problem.dtype));
  double fastest = 1;
  for (const Link& link : topology.links())
    fastest = std::max(fastest, link.bandwidth.value);
  unit_seconds_ = unit_bytes_ / fastest;
  add_shares();
  if (inputs_come_) {
    add_parts(a, problem.place_a, problem.rows_a(), problem.cols_a());
    add_parts(b, problem.place_b, problem.rows_b(), problem.cols_b());
  }
  add_parts(c, problem.place_c, problem.m, problem.n);
  const bool stays = std::ranges::all_of(
      problem.place_c.blocks(problem.m, problem.n),
      [&](const MatrixBlock& block) { return contains(devices, block.memory); });
  if (problem.beta != 0 && !stays) add_parts(old, problem.place_c, problem.m, problem.n);
  add_compute();
  add_links();
  add_groups();
  add_engines();
}

/// A device without time for the shortest kernel does nothing. If the need of the rows so
/// far is at most 1, cuts that the solution violates are added.
double BoundProgram::needed(double seconds) {
  time_ = seconds / unit_seconds_;
  bool possible = false;
  for (const Device& device : device_) {
    const bool works =
        device.computes &&
        time_ >= device.idle + device.limits.shortest.value / unit_seconds_;
    program_.set_upper(device.share, works ? 1 : 0);
    possible = possible || works;
  }
  if (!possible) return share_ = unlimited;
  for (const Resource& r : resources_)
    program_.set_coefficient(r.row, need_, -available(r));
  set_reuse();
  const int most_rounds = devices_.size() <= most_with_cuts ? 200 : 8;
  for (int round = 0; round < most_rounds; ++round) {
    share_ = program_.solve();
    exact_ = program_.is_solved();
    if (share_ > 1 || !exact_ || !add_cuts()) return share_;
  }
  exact_ = false;
  return share_;
}

/// Part of T in which a resource can be busy.
double BoundProgram::available(const Resource& r) const {
  if (!r.device) return time_;
  const Device& device = device_[*r.device];
  return r.multiplies ? work(device) : std::max(0.0, time_ - device.idle);
}

/// Upper limit of the multiplications that the device can do in T, as their time without
/// load.
double BoundProgram::work(const Device& device) const {
  if (!(time_ > device.idle)) return 0;
  const double busy = 1 - device.idle / time_;
  return time_ * device.limits.work(busy, Seconds{time_ * unit_seconds_});
}

/// The share of T that goes to a resource. Its price is the change of the need per unit
/// of available time, so the sum of price times available time is 1. A device is idle
/// before and after that time.
double BoundProgram::explained(const Resource& r) const {
  const double busy = r.device ? 1 - device_[*r.device].idle / time_ : 1;
  return share_ * std::abs(program_.price(r.row)) * available(r) * busy;
}

Binding BoundProgram::binding() const {
  std::map<TimeUse, double> shares{{TimeUse::latency, 1}};
  for (const Resource& r : resources_) {
    shares[r.kind] += explained(r);
    shares[TimeUse::latency] -= explained(r);
  }
  const auto [kind, share] = *std::ranges::max_element(
      shares, {}, [](const auto& of_kind) { return of_kind.second; });
  if (!(share > shares[TimeUse::latency])) return {TimeUse::latency};
  const Resource* most = nullptr;  // the resource with the highest price
  int others = -1;
  const auto price = [&](const Resource& r) { return std::abs(program_.price(r.row)); };
  for (const Resource& r : resources_) {
    constexpr double rounding = 1e-6;
    if (r.kind != kind || explained(r) < 0.01 * share) continue;
    ++others;
    if (!most || price(r) > (1 + rounding) * price(*most)) most = &r;
  }
  return {kind, most->name, others};
}

std::optional<size_t> BoundProgram::device_at(size_t vertex) const {
  const auto found = std::ranges::find(device_, vertex, &Device::vertex);
  if (found == device_.end()) return std::nullopt;
  return size_t(found - device_.begin());
}

/// Adds one part for each memory that holds some of the matrix: with interleaved pages
/// each memory has an equal share of each tile. A part for each block would give the
/// same bound: all blocks of a memory have the same routes.
void BoundProgram::add_parts(Matrix matrix, const Layout& place, int64_t rows,
                             int64_t cols) {
  if (size_[matrix] == 0 || place.is_replicated()) return;
  std::map<MemoryId, double> shares;
  for (const MatrixBlock& block : place.blocks(rows, cols))
    shares[block.memory] +=
        double(block.rows) * double(block.cols) / (double(rows) * double(cols));
  const size_t first = parts_.size();
  for (const auto& [memory, share] : shares) {
    const auto homes = topology_.parts_of(memory);
    for (const MemoryId home : homes)
      parts_.push_back({matrix, vertex_of(home), share / double(homes.size())});
  }
  const std::span parts = std::span{parts_}.subspan(first);
  for (size_t d = 0; shares.size() > 1 && d < devices_.size(); ++d) {
    Terms all_of_it{{device_[d].holds[matrix], -1}};
    for (Part& part : parts) {
      part.holds.push_back(program_.add_variable(part.size));
      all_of_it.push_back({part.holds.back(), 1});
    }
    add_equal(0, all_of_it);
  }
  for (Part& part : parts) {
    add_flows(part);
    matrix == c ? add_results(part) : matrix == old ? add_old(part) : add_inputs(part);
  }
}

/// An element is copied only as often as memories need it: inputs once into each memory,
/// results once from each device that forwards a sum, over at most all memories.
double BoundProgram::most(const Part& part) const {
  const auto memories = double(memories_.size());
  return part.size * memories * (part.matrix == c ? 2 * double(devices_.size()) : 1);
}

void BoundProgram::add_flows(Part& part) {
  for (const BoundGraph::Link& link : graph_.links) {
    const bool of_no_use = part.matrix == c
                               ? link.from == part.home && !device_at(part.home)
                               : link.to == part.home;
    part.flow.push_back(program_.add_variable(of_no_use ? 0 : most(part)));
  }
  for (const auto vertex : indices(graph_.is_switch))
    if (graph_.is_switch[vertex]) add_equal(0, comes(part, vertex, 1));
}

/// Elements of a part that a device touches: a variable of its own if parts differ,
/// otherwise proportional to the matrix.
BoundProgram::Term BoundProgram::held(const Part& part, size_t device,
                                      double factor) const {
  if (!part.holds.empty()) return {part.holds[device], factor};
  return {device_[device].holds[part.matrix], factor * part.size};
}

/// Flow over these links.
BoundProgram::Terms BoundProgram::crosses(const Part& part, Numbers links,
                                          double factor) const {
  Terms terms;
  for (const size_t link : links) terms.push_back({part.flow[link], factor});
  return terms;
}

/// The bytes that enter a vertex minus the bytes that leave it.
BoundProgram::Terms BoundProgram::comes(const Part& part, size_t vertex,
                                        double factor) const {
  Terms terms = crosses(part, graph_.into[vertex], factor);
  append(terms, crosses(part, graph_.out_of[vertex], -factor));
  return terms;
}

/// A device receives what it touches, unless its vertex is the home. Cuts determine the
/// source.
void BoundProgram::add_inputs(const Part& part) {
  for (const auto d : indices(devices_)) {
    if (device_[d].vertex == part.home) continue;
    Terms terms{held(part, d, -1)};
    append(terms, crosses(part, graph_.into[device_[d].vertex], 1));
    add_at_least(0, terms);
  }
}

/// The sums of an element form a tree: each leaves a device, or a memory that forwards
/// it, once. If several arrive at a device, or one arrives at a device with a sum of its
/// own, one may leave. The last stays at home.
void BoundProgram::add_results(const Part& part) {
  for (const MemoryId memory : memories_) {
    const size_t vertex = vertex_of(memory);
    const double stays = vertex == part.home ? part.size : 0;
    const auto device = device_at(vertex);
    Terms sums = comes(part, vertex, 1);
    if (!device) {
      add_equal(stays, sums);
      continue;
    }
    sums.push_back(held(part, *device, 1));
    add_at_least(stays, sums);
    if (vertex == part.home) continue;
    Terms leaves{held(part, *device, -1)};
    append(leaves, crosses(part, graph_.out_of[vertex], 1));
    add_at_least(0, leaves);
  }
}

/// Each element is read by one device.
void BoundProgram::add_old(const Part& part) {
  for (const MemoryId memory : memories_) {
    const size_t vertex = vertex_of(memory);
    Terms terms = comes(part, vertex, 1);
    if (const auto device = device_at(vertex)) terms.push_back(held(part, *device, -1));
    add_equal(vertex == part.home ? -part.size : 0, terms);
  }
}

/// Flow over each link in the last solution.
std::vector<double> BoundProgram::flow_of(const Part& part) const {
  std::vector<double> flow;
  for (const size_t variable : part.flow)
    flow.push_back(std::max(0.0, program_.value(variable)));
  return flow;
}

/// The minimum cut: the least flow of a part from its home to these devices, or from them
/// to it.
BoundProgram::DataShare BoundProgram::crossing(const Part& part, Numbers devices) const {
  const std::vector<BoundGraph::End> home{{part.home, unlimited}};
  std::vector<BoundGraph::End> ends;
  for (const size_t d : devices) ends.push_back({device_[d].vertex, unlimited});
  const bool leaves = part.matrix == c;
  const BoundGraph::Cut cut =
      graph_.least_cut(flow_of(part), leaves ? ends : home, leaves ? home : ends);
  return {cut.value, crosses(part, cut.links, 1)};
}

/// Touched data arrives at the devices (of C: leaves them): the minimum over equivalent
/// parts, the sum over distinct parts. The whole matrix may be local if a device is its
/// home, or if nothing must be copied.
BoundProgram::DataShare BoundProgram::reached(Matrix matrix, Numbers devices) const {
  std::optional<DataShare> all;
  for (const Part& part : parts_) {
    if (part.matrix != matrix) continue;
    if (std::ranges::any_of(devices,
                            [&](size_t d) { return device_[d].vertex == part.home; }))
      return {};
    DataShare touched = crossing(part, devices);
    if (part.holds.empty()) {
      touched.value /= part.size;
      for (Term& term : touched.terms) term.second /= part.size;
      if (!all || touched.value < all->value) all = touched;
    } else if (!all) {
      all = touched;
    } else {
      all->value += touched.value;
      append(all->terms, touched.terms);
    }
  }
  if (!all) return {};
  if (all->terms.empty()) all->value = 0;
  return *all;
}

/// The cheaper cuts first; the rest only if these find nothing.
bool BoundProgram::add_cuts() {
  bool found = false;
  for (size_t d = 0; has_b_ && d < devices_.size(); ++d) {
    const auto touched = [&](size_t holds) {
      return DataShare{program_.value(holds), {{holds, 1}}};
    };
    const auto& holds = device_[d].holds;
    found |=
        add_reuse(regions_[d], {touched(holds[a]), touched(holds[b]), touched(holds[c])});
  }
  for (const Part& part : parts_) {
    if (part.matrix == old) continue;
    if (devices_.size() <= most_with_cuts) found |= add_cuts(part);
    if (part.matrix != c) found |= add_use(part);
  }
  if (found) return true;
  for (Region& region : std::span{regions_}.subspan(devices_.size())) {
    const auto touched = [&](Matrix matrix) { return reached(matrix, region.devices); };
    found |= add_reuse(region, {touched(a), touched(b), touched(c)});
  }
  return found;
}

/// The data that a device touches crosses every cut between it and the home.
bool BoundProgram::add_cuts(const Part& part) {
  bool found = false;
  for (const auto d : indices(devices_)) {
    if (device_[d].vertex == part.home) continue;
    DataShare crosses = crossing(part, std::array{d});
    const Term needs = held(part, d, -1);
    if (crosses.value + needs.second * program_.value(needs.first) >= -precise) continue;
    crosses.terms.push_back(needs);
    found |= add_cut(0, crosses.terms);
  }
  return found;
}

/// A share w of the multiplications, done by some devices together, touches at least a
/// share w of an input; all devices together touch all of a block, unless one of them
/// holds it.
bool BoundProgram::add_use(const Part& part) {
  const bool is_block = !part.holds.empty();
  if (is_block && device_at(part.home)) return false;
  std::vector<BoundGraph::End> users;
  double all = 0;
  for (const Device& device : device_) {
    if (device.vertex == part.home) continue;
    const double share = part.size * program_.value(device.share);
    users.push_back({device.vertex, share});
    if (is_block) users.back().most = unlimited;
    all += share;
  }
  const std::array home{BoundGraph::End{part.home, unlimited}};
  const BoundGraph::Cut cut = graph_.least_cut(flow_of(part), home, users);
  if (cut.value >= (is_block ? part.size : all) - precise) return false;
  Terms terms = crosses(part, cut.links, 1);
  if (is_block) return add_cut(part.size, terms);
  for (const Device& device : device_)
    if (device.vertex != part.home && cut.inside[device.vertex])
      terms.push_back({device.share, -part.size});
  return add_cut(0, terms);
}

/// Returns false if the program contains the cut already. If rates differ by many orders
/// of magnitude, a solution of Clp may violate a row by more than `precise`.
bool BoundProgram::add_cut(double least, const Terms& terms) {
  const bool is_new = cuts_.emplace(least, terms).second;
  if (is_new) add_at_least(least, terms);
  return is_new;
}

namespace {

constexpr double most_seconds = 1e12,
                 least_seconds =
                     1e-15;       // upper limit of all makespans; shorter ones count as 0
constexpr double precise = 1e-5;  // relative
constexpr double rounding = 1e-6;  // the error of the linear programs is far less

/// A makespan with a need above 1 that is `precise` below a makespan with a need of at
/// most 1. As the need falls about as 1 / T, the next T is near the estimated root; now
/// and then it is the middle.
double impossible(BoundProgram& program) {
  constexpr double most_step = 100;
  constexpr int middle_each = 3;
  double shorter = 0, longer = LinearProgram::infinity, beside = precise / 3;
  double time = 1e-3;
  for (int step = 1; longer > (1 + precise) * shorter; ++step) {
    const double need = program.needed(time);
    (need > 1 ? shorter : longer) = time;
    if (longer < least_seconds) return 0;
    if (shorter > most_seconds) return most_seconds;
    time *=
        std::clamp(need, 1 / most_step, most_step) * (need > 1 ? 1 + beside : 1 - beside);
    const bool is_between = shorter > 0 && longer < LinearProgram::infinity;
    if (!is_between)
      beside = std::min(2 * beside, 0.5);
    else if (step % middle_each == 0 || time <= shorter || time >= longer)
      time = std::sqrt(shorter * longer);
    else
      beside = precise / 3;
  }
  program.needed(longer);  // below it there may be no solution and no prices
  return shorter;
}

}  // namespace

Bound lower_bound(const GemmProblem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, bool warm) {
  const bool changes_nothing = problem.scales_only() && problem.beta == 1;
  if (problem.m == 0 || problem.n == 0 || changes_nothing) return {};
  BoundProgram program{problem, topology, devices, warm};
  const double seconds = impossible(program);
  return {Seconds{seconds * (1 - rounding)}, program.binding(), program.is_exact()};
}

Bound lower_bound(const Plan& plan, const Topology& topology) {
  const std::vector<MemoryId>& given = plan.origin.given;
  return lower_bound(plan.gemm(), topology, given.empty() ? plan.devices : given,
                     plan.warm);
}

}  // namespace tilerail
