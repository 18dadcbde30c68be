// What must cross between nodes: the rows of BoundProgram that a solution did not keep to. docs/model.md#bound
#include <algorithm>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

}  // namespace

BoundProgram::Flows BoundProgram::flows() const {
  Flows flows;
  for (const Part& part : parts_) {
    std::vector<double>& of_part = flows.emplace_back();
    for (const std::size_t variable : part.flow) of_part.push_back(std::max(0.0, program_.value(variable)));
  }
  return flows;
}

double BoundProgram::sum(const Terms& terms) const {
  double sum = 0;
  for (const auto& [variable, coefficient] : terms) sum += coefficient * program_.value(variable);
  return sum;
}

/// The least that links carry of a part from its home to these devices, or from them to it, over any cut between.
BoundProgram::Touched BoundProgram::crossing(std::size_t part, const Flows& flows,
                                             std::span<const std::size_t> devices) const {
  const std::vector<BoundGraph::End> home{{parts_[part].home, unlimited}};
  std::vector<BoundGraph::End> ends;
  for (const std::size_t d : devices) ends.push_back({device_[d].node, unlimited});
  const bool leaves = parts_[part].matrix == c;
  const BoundGraph::Cut cut = graph_.least_cut(flows[part], leaves ? ends : home, leaves ? home : ends);
  Touched touched{cut.value};
  for (const std::size_t link : cut.links) touched.terms.push_back({parts_[part].flow[link], 1});
  return touched;
}

/// What devices touch of a matrix has come to them, or leaves them: of parts that are alike the least, of others the
/// sum. All of it may be there where one of them is its home, or nothing has to come.
BoundProgram::Touched BoundProgram::reached(Matrix matrix, const Flows& flows,
                                            std::span<const std::size_t> devices) const {
  std::optional<Touched> all;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    if (part.matrix != matrix) continue;
    if (std::ranges::any_of(devices, [&](std::size_t d) { return device_[d].node == part.home; })) return {};
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
  for (std::size_t d = 0; multiplies && d < devices_.size(); ++d) {
    std::array<Touched, 3> touched;
    for (const Matrix matrix : {a, b, c})
      touched[matrix] = {program_.value(device_[d].holds[matrix]), {{device_[d].holds[matrix], 1}}};
    found = add_reuse(regions_[d], touched) || found;
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].matrix == old) continue;
    if (devices_.size() <= most_with_cuts) found = add_cuts(p, now) || found;
    if (parts_[p].matrix != c) found = add_use(p, now) || found;
  }
  if (found) return true;
  for (std::size_t r = devices_.size(); r < regions_.size(); ++r) {
    const std::vector<std::size_t>& devices = regions_[r].devices;
    found =
        add_reuse(regions_[r], {reached(a, now, devices), reached(b, now, devices), reached(c, now, devices)}) || found;
  }
  return found;
}

/// What a device touches crosses all that is between it and the home.
bool BoundProgram::add_cuts(std::size_t part, const Flows& flows) {
  bool found = false;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (device_[d].node == parts_[part].home) continue;
    Touched crosses = crossing(part, flows, std::array{d});
    const Terms needs = held(parts_[part], d, -1);
    if (crosses.value + sum(needs) >= -precise) continue;
    crosses.terms.insert(crosses.terms.end(), needs.begin(), needs.end());
    program_.add_row(0, unlimited, crosses.terms);
    found = true;
  }
  return found;
}

/// A share w of the multiplications that some devices do together touches a share w of an input at least; all devices
/// together touch all of a block.
bool BoundProgram::add_use(std::size_t part, const Flows& flows) {
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
  for (const std::size_t link : cut.links) terms.push_back({p.flow[link], 1});
  for (const Device& device : device_)
    if (p.holds.empty() && device.node != p.home && cut.inside[device.node]) terms.push_back({device.share, -p.size});
  program_.add_row(p.holds.empty() ? 0 : p.size, unlimited, terms);
  return true;
}

}  // namespace tilerail
