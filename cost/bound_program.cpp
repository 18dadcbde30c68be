#include "cost/bound_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

/// What copies may start from, end at or pass through: the devices, all hosts, and what the matrices are on.
std::vector<MemoryId> taking_part(const GemmProblem& problem, const Topology& topology,
                                  std::span<const MemoryId> devices) {
  std::vector<MemoryId> memories{devices.begin(), devices.end()};
  memories.insert(memories.end(), topology.hosts().begin(), topology.hosts().end());
  for (const MemoryId place : {problem.place_a, problem.place_b, problem.place_c})
    if (topology.is_gpu(place)) memories.push_back(place);
  std::ranges::sort(memories);
  memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
  return memories;
}

}  // namespace

BoundProgram::BoundProgram(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                           Caches caches, Pace pace)
    : problem_{problem},
      topology_{topology},
      devices_{devices},
      pace_{pace},
      inputs_come_{caches == Caches::empty && !problem.scales_only()},
      memories_{taking_part(problem, topology, devices)},
      graph_{topology, memories_},
      need_{program_.add_variable(1)} {
  const double m = double(problem.m), n = double(problem.n);
  const double k = double(problem.k);
  product_ = !problem.scales_only();
  size_ = {product_ ? m * k : 0, product_ && problem.has_b() ? k * n : 0, m * n, m * n};
  const double largest = *std::ranges::max_element(size_);
  for (double& size : size_) size /= largest;
  unit_bytes_ = largest * double(element_size(problem.dtype));
  double fastest = 1;
  for (const Link& link : topology.links()) fastest = std::max(fastest, link.bandwidth.value);
  unit_seconds_ = unit_bytes_ / fastest;
  add_shares();
  add_regions();
  if (inputs_come_) {
    add_parts(a, problem.place_a, matrix_blocks(problem.rows_a(), problem.cols_a(), problem.place_a, topology));
    add_parts(b, problem.place_b, matrix_blocks(problem.rows_b(), problem.cols_b(), problem.place_b, topology));
  }
  const auto blocks_of_c = matrix_blocks(problem.m, problem.n, problem.place_c, topology);
  add_parts(c, problem.place_c, blocks_of_c);
  const bool stays = std::ranges::find(devices, problem.place_c) != devices.end();
  if (problem.beta != 0 && !stays) add_parts(old, problem.place_c, blocks_of_c);
  add_compute();
  add_links();
  add_groups();
  add_engines();
}

/// A device that has no time for the shortest kernel does nothing. Where the need of the rows so far is not above 1,
/// cuts that its solution does not keep to are added.
double BoundProgram::needed(double seconds) {
  time_ = seconds / unit_seconds_;
  bool possible = false;
  for (const Device& device : device_) {
    const bool works = device.computes && time_ >= device.idle + device.limits.shortest.value / unit_seconds_;
    program_.set_upper(device.share, works ? 1 : 0);
    possible = possible || works;
  }
  if (!possible) return share_ = unlimited;
  for (const Resource& r : resources_) program_.set_coefficient(r.row, need_, -available(r));
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

/// Of T, that a resource can be busy.
double BoundProgram::available(const Resource& r) const {
  if (!r.device) return time_;
  const Device& device = device_[*r.device];
  return r.multiplies ? work(device) : std::max(0.0, time_ - device.idle);
}

/// The time that its multiplications take at most with no load, of those that it can do in T.
double BoundProgram::work(const Device& device) const {
  if (!(time_ > device.idle)) return 0;
  const double busy = 1 - device.idle / time_;
  return time_ * (pace_ == Pace::sustained ? device.limits.sustained_work(busy)
                                           : device.limits.work(busy, Seconds{time_ * unit_seconds_}));
}

/// The share of T that goes to a resource. Its price is what the need would change by if it were busy for longer, so
/// the sum of price times available time is 1. Before and after that it is idle.
double BoundProgram::explained(const Resource& r) const {
  const double busy = r.device ? 1 - device_[*r.device].idle / time_ : 1;
  return share_ * std::abs(program_.price(r.row)) * available(r) * busy;
}

std::pair<TimeUse, std::string> BoundProgram::binding() const {
  std::map<TimeUse, double> of_kind;
  double latency = 1;
  for (const Resource& r : resources_) of_kind[r.kind] += explained(r), latency -= explained(r);
  const auto kind = std::ranges::max_element(of_kind, {}, [](const auto& entry) { return entry.second; });
  if (kind == of_kind.end() || !(kind->second > latency)) return {TimeUse::latency, "latency"};
  const auto price = [&](const Resource& r) { return std::abs(program_.price(r.row)); };
  const Resource* most = nullptr;  // the one that is worth most
  int others = -1;
  for (const Resource& r : resources_) {
    if (r.kind != kind->first || explained(r) < 0.01 * kind->second) continue;
    ++others;
    constexpr double rounding = 1e-6;
    if (!most || price(r) > (1 + rounding) * price(*most)) most = &r;
  }
  return {kind->first, others > 0 ? fmt::format("{} and {} more", most->name, others) : most->name};
}

std::optional<size_t> BoundProgram::device_at(size_t node) const {
  const auto found = std::ranges::find(device_, node, &Device::node);
  if (found == device_.end()) return std::nullopt;
  return size_t(found - device_.begin());
}

/// One for each memory that holds some of it: of interleaved pages each tile has equally much in all of these.
void BoundProgram::add_parts(Matrix matrix, MemoryId place, const std::vector<MatrixBlock>& blocks) {
  if (size_[matrix] == 0 || topology_.has_copies(place)) return;
  double all = 0;
  for (const MatrixBlock& block : blocks) all += double(block.rows) * double(block.cols);
  const size_t first = parts_.size();
  for (const MatrixBlock& block : blocks) {
    const auto homes = topology_.parts_of(block.memory);
    const double size = double(block.rows) * double(block.cols) / all;
    for (const MemoryId home : homes)
      parts_.push_back({matrix, topology_.memory(home).node.index(), size / double(homes.size()), {}, {}});
  }
  for (size_t d = 0; blocks.size() > 1 && d < devices_.size(); ++d) {
    Terms all_of_it{{device_[d].holds[matrix], -1}};
    for (size_t p = first; p < parts_.size(); ++p) {
      parts_[p].holds.push_back(program_.add_variable(0, parts_[p].size));
      all_of_it.push_back({parts_[p].holds.back(), 1});
    }
    program_.add_row(0, 0, all_of_it);
  }
  for (size_t p = first; p < parts_.size(); ++p) {
    add_flows(parts_[p]);
    matrix == c ? add_results(parts_[p]) : matrix == old ? add_old(parts_[p]) : add_inputs(parts_[p]);
  }
}

/// Of the copies of an element, those count that a memory needs: of inputs one into each memory, of results one from
/// each device that passes a sum on, over as many memories as there are.
double BoundProgram::most(const Part& part) const {
  const auto memories = double(memories_.size());
  return part.size * memories * (part.matrix == c ? 2 * double(devices_.size()) : 1);
}

void BoundProgram::add_flows(Part& part) {
  for (const BoundGraph::Link& link : graph_.links()) {
    const bool of_no_use = part.matrix == c ? link.from == part.home && !device_at(part.home) : link.to == part.home;
    part.flow.push_back(program_.add_variable(0, of_no_use ? 0 : most(part)));
  }
  for (size_t node = 0; node < graph_.nodes(); ++node)
    if (graph_.is_switch(node)) program_.add_row(0, 0, comes(part, node, 1));
}

/// What a device touches of a part: of its matrix as much as of any part, or a variable of its own.
BoundProgram::Terms BoundProgram::held(const Part& part, size_t device, double factor) const {
  if (!part.holds.empty()) return {{part.holds[device], factor}};
  return {{device_[device].holds[part.matrix], factor * part.size}};
}

/// What comes into a node, less what leaves it.
BoundProgram::Terms BoundProgram::comes(const Part& part, size_t node, double factor) const {
  Terms terms;
  for (const size_t link : graph_.into(node)) terms.push_back({part.flow[link], factor});
  for (const size_t link : graph_.out_of(node)) terms.push_back({part.flow[link], -factor});
  return terms;
}

/// A device gets what it touches, unless that is at home there. Cuts say from where.
void BoundProgram::add_inputs(const Part& part) {
  for (const auto d : indices(devices_)) {
    if (device_[d].node == part.home) continue;
    Terms terms = held(part, d, -1);
    for (const size_t link : graph_.into(device_[d].node)) terms.push_back({part.flow[link], 1});
    program_.add_row(0, unlimited, terms);
  }
}

/// The sums of an element make a tree: each of them leaves a device, or a memory that passes it on, once, and where
/// several come to a device, or one comes to a device that has its own, one may leave. The last is at home.
void BoundProgram::add_results(const Part& part) {
  for (const MemoryId memory : memories_) {
    const size_t node = topology_.memory(memory).node.index();
    const auto device = device_at(node);
    Terms sums = comes(part, node, 1);
    if (!device) {
      const double stays = node == part.home ? part.size : 0;
      program_.add_row(stays, stays, sums);
      continue;
    }
    for (const auto& term : held(part, *device, 1)) sums.push_back(term);
    program_.add_row(node == part.home ? part.size : 0, unlimited, sums);
    if (node == part.home) continue;
    Terms leaves = held(part, *device, -1);
    for (const size_t link : graph_.out_of(node)) leaves.push_back({part.flow[link], 1});
    program_.add_row(0, unlimited, leaves);
  }
}

/// Each element is read by some device.
void BoundProgram::add_old(const Part& part) {
  for (const MemoryId memory : memories_) {
    const size_t node = topology_.memory(memory).node.index();
    Terms terms = comes(part, node, 1);
    if (const auto device = device_at(node))
      for (const auto& term : held(part, *device, -1)) terms.push_back(term);
    const double leaves = node == part.home ? -part.size : 0;
    program_.add_row(leaves, leaves, terms);
  }
}

BoundProgram::Flows BoundProgram::flows() const {
  Flows flows;
  for (const Part& part : parts_) {
    std::vector<double>& of_part = flows.emplace_back();
    for (const size_t variable : part.flow) of_part.push_back(std::max(0.0, program_.value(variable)));
  }
  return flows;
}

double BoundProgram::sum(const Terms& terms) const {
  double sum = 0;
  for (const auto& [variable, coefficient] : terms) sum += coefficient * program_.value(variable);
  return sum;
}

/// The least that links carry of a part from its home to these devices, or from them to it, over any cut between.
BoundProgram::Touched BoundProgram::crossing(size_t part, const Flows& flows, std::span<const size_t> devices) const {
  const std::vector<BoundGraph::End> home{{parts_[part].home, unlimited}};
  std::vector<BoundGraph::End> ends;
  for (const size_t d : devices) ends.push_back({device_[d].node, unlimited});
  const bool leaves = parts_[part].matrix == c;
  const BoundGraph::Cut cut = graph_.least_cut(flows[part], leaves ? ends : home, leaves ? home : ends);
  Touched touched{cut.value};
  for (const size_t link : cut.links) touched.terms.push_back({parts_[part].flow[link], 1});
  return touched;
}

/// What devices touch of a matrix has come to them, or leaves them: of parts that are alike the least, of others the
/// sum. All of it may be there where one of them is its home, or nothing has to come.
BoundProgram::Touched BoundProgram::reached(Matrix matrix, const Flows& flows, std::span<const size_t> devices) const {
  std::optional<Touched> all;
  for (const auto p : indices(parts_)) {
    const Part& part = parts_[p];
    if (part.matrix != matrix) continue;
    if (std::ranges::any_of(devices, [&](size_t d) { return device_[d].node == part.home; })) return {};
    Touched crosses = crossing(p, flows, devices);
    if (part.holds.empty()) {
      crosses.value /= part.size;
      for (auto& term : crosses.terms) term.second /= part.size;
      if (!all || crosses.value < all->value) all = std::move(crosses);
    } else if (!all) {
      all = std::move(crosses);
    } else {
      all->value += crosses.value;
      all->terms.insert(all->terms.end(), crosses.terms.begin(), crosses.terms.end());
    }
  }
  if (!all) return {};
  if (all->terms.empty()) all->value = 0;
  return *all;
}

/// First what is cheaper to find; the rest where that finds nothing.
bool BoundProgram::add_cuts() {
  const Flows now = flows();
  bool found = false;
  const bool multiplies = product_ && problem_.has_b();
  for (size_t d = 0; multiplies && d < devices_.size(); ++d) {
    std::array<Touched, 3> touched;
    for (const Matrix matrix : {a, b, c})
      touched[matrix] = {program_.value(device_[d].holds[matrix]), {{device_[d].holds[matrix], 1}}};
    found = add_reuse(regions_[d], touched) || found;
  }
  for (const auto p : indices(parts_)) {
    if (parts_[p].matrix == old) continue;
    if (devices_.size() <= most_with_cuts) found = add_cuts(p, now) || found;
    if (parts_[p].matrix != c) found = add_use(p, now) || found;
  }
  if (found) return true;
  for (size_t r = devices_.size(); r < regions_.size(); ++r) {
    const std::vector<size_t>& devices = regions_[r].devices;
    found =
        add_reuse(regions_[r], {reached(a, now, devices), reached(b, now, devices), reached(c, now, devices)}) || found;
  }
  return found;
}

/// What a device touches crosses all that is between it and the home.
bool BoundProgram::add_cuts(size_t part, const Flows& flows) {
  bool found = false;
  for (const auto d : indices(devices_)) {
    if (device_[d].node == parts_[part].home) continue;
    Touched crosses = crossing(part, flows, std::array{d});
    const Terms needs = held(parts_[part], d, -1);
    if (crosses.value + sum(needs) >= -precise) continue;
    crosses.terms.insert(crosses.terms.end(), needs.begin(), needs.end());
    found = add_cut(0, std::move(crosses.terms)) || found;
  }
  return found;
}

/// A share w of the multiplications that some devices do together touches a share w of an input at least; all devices
/// together touch all of a block.
bool BoundProgram::add_use(size_t part, const Flows& flows) {
  const Part& p = parts_[part];
  std::vector<BoundGraph::End> users;
  double all = 0;
  for (const Device& device : device_) {
    if (device.node == p.home) continue;
    users.push_back({device.node, p.holds.empty() ? p.size * program_.value(device.share) : unlimited});
    all += p.holds.empty() ? users.back().most : 0;
  }
  if (!p.holds.empty()) all = p.size;
  const BoundGraph::Cut cut = graph_.least_cut(flows[part], std::array{BoundGraph::End{p.home, unlimited}}, users);
  if (cut.value >= all - precise) return false;
  Terms terms;
  for (const size_t link : cut.links) terms.push_back({p.flow[link], 1});
  for (const Device& device : device_)
    if (p.holds.empty() && device.node != p.home && cut.inside[device.node]) terms.push_back({device.share, -p.size});
  return add_cut(p.holds.empty() ? 0 : p.size, std::move(terms));
}

/// Returns false if the program contains the cut already. If rates differ by many orders of magnitude, a solution of
/// Clp may violate a row by more than `precise`.
bool BoundProgram::add_cut(double least, Terms terms) {
  const auto [cut, is_new] = cuts_.emplace(least, std::move(terms));
  if (is_new) program_.add_row(least, unlimited, cut->second);
  return is_new;
}

}  // namespace tilerail
