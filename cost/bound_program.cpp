#include "cost/bound_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

}  // namespace

BoundProgram::BoundProgram(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices)
    : problem_{problem}, topology_{topology}, devices_{devices}, need_{program_.add_variable(1)} {
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k);
  product_ = !problem.scales_only();
  size_ = {product_ ? m * k : 0, product_ && problem.has_b() ? k * n : 0, m * n};
  const double largest = *std::ranges::max_element(size_);
  for (double& size : size_) size /= largest;
  unit_bytes_ = largest * static_cast<double>(element_size(problem.dtype));
  double fastest = 1;
  for (const Link& link : topology.links()) fastest = std::max(fastest, link.bandwidth.value);
  unit_seconds_ = unit_bytes_ / fastest;
  add_shares();
  add_inputs(0, problem.place_a);
  add_inputs(1, problem.place_b);
  add_c();
  add_compute();
  add_links();
  add_groups();
  add_engines();
}

/// The share of T that is needed at least.
double BoundProgram::needed(double seconds) {
  const double time = seconds / unit_seconds_;
  for (const Resource& r : resources_) program_.set_coefficient(r.row, need_, -std::max(0.0, time - r.idle));
  set_reuse(time);
  return program_.solve();
}

/// A price is what the need would change by if the resource could do more.
std::string BoundProgram::binding() const {
  std::map<std::string_view, double> of_kind;
  for (const Resource& r : resources_) of_kind[r.kind] += std::abs(program_.price(r.row));
  const auto kind = std::ranges::max_element(of_kind, {}, [](const auto& entry) { return entry.second; });
  constexpr double negligible = 1e-6;
  if (kind == of_kind.end() || kind->second < negligible) return "latency";
  const Resource* most = nullptr;
  int others = -1;
  for (const Resource& r : resources_) {
    const double price = std::abs(program_.price(r.row));
    if (r.kind != kind->first || price < 0.01 * kind->second) continue;
    ++others;
    if (!most || price > (1 + negligible) * std::abs(program_.price(most->row))) most = &r;
  }
  return others > 0 ? fmt::format("{} and {} more", most->name, others) : most->name;
}

/// Every multiplication is somebody's. An element of A takes part in n of them, one of B in m, one of C in k: a share
/// w of the multiplications touches a share w of each matrix at least.
void BoundProgram::add_shares() {
  Terms all;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    Device& device = device_.emplace_back();
    device.share = program_.add_variable(0, computes(devices_[d]) ? 1 : 0);
    all.push_back({device.share, 1});
    for (std::size_t matrix = 0; matrix < 3; ++matrix) {
      device.holds[matrix] = program_.add_variable(0, size_[matrix]);
      program_.add_row(0, unlimited, {{device.holds[matrix], 1}, {device.share, -size_[matrix]}});
    }
    if (product_ && problem_.has_b())
      for (std::size_t shape = 0; shape < shapes.size(); ++shape)
        device.reuse.push_back(program_.add_row(
            0, unlimited, {{device.holds[a], 1}, {device.holds[b], 1}, {device.holds[c], 1}, {device.share, -1}}));
  }
  program_.add_row(1, 1, all);
}

/// Loomis and Whitney: a share w of the multiplications touches shares x, y, z of A, B, C with x y z >= w^2, hence
///   x / x0 + y / y0 + z / z0 >= 3 (w / W)   for any x0 y0 z0 = W^2 and w <= W
/// (the means' inequality, and (w / W)^(2/3) >= w / W). W is what the device could multiply in T.
void BoundProgram::set_reuse(double time) {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const Device& device = device_[d];
    if (device.reuse.empty()) continue;
    const double most = std::clamp(time / all_[d], 1e-6, 1.0);
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      const double x = std::clamp(std::sqrt(most) * shapes[s], most, 1.0), y = most / x;  // z = W: no split of k
      program_.set_coefficient(device.reuse[s], device.holds[a], 1 / (x * size_[a]));
      program_.set_coefficient(device.reuse[s], device.holds[b], 1 / (y * size_[b]));
      program_.set_coefficient(device.reuse[s], device.holds[c], 1 / (most * size_[c]));
      program_.set_coefficient(device.reuse[s], device.share, -3 / most);
    }
  }
}

std::size_t BoundProgram::flow(MemoryId src, MemoryId dst) {
  const auto links = topology_.route(src, dst);
  const auto groups = topology_.groups_on(src, dst);
  Flow& flow =
      flows_.emplace_back(Flow{program_.add_variable(), {links.begin(), links.end()}, {groups.begin(), groups.end()}});
  if (topology_.is_host(src) && topology_.is_host(dst)) return flow.variable;
  const int role = topology_.is_host(src) ? 0 : topology_.is_host(dst) ? 1 : 2;
  flow.engine = {role == 0 ? dst : src, role};
  flow.alone = topology_.pair_rate(src, dst);
  return flow.variable;
}

/// It loads what the routes of all these pairs have in common.
std::size_t BoundProgram::flow_between_any(MemoryId device, bool into) {
  Flow common{program_.add_variable(), {}, {}};
  bool first = true;
  for (const MemoryId other : devices_) {
    const MemoryId src = into ? other : device, dst = into ? device : other;
    if (other == device || !topology_.has_route(src, dst)) continue;
    const auto links = topology_.route(src, dst);
    const auto groups = topology_.groups_on(src, dst);
    if (first) common.links.assign(links.begin(), links.end()), common.groups.assign(groups.begin(), groups.end());
    first = false;
    std::erase_if(common.links, [&](LinkId link) { return std::ranges::find(links, link) == links.end(); });
    std::erase_if(common.groups, [&](const Topology::GroupUse& use) {
      return std::ranges::none_of(groups, [&](const Topology::GroupUse& here) {
        return here.group == use.group && here.forward == use.forward && here.backward == use.backward;
      });
    });
  }
  flows_.push_back(std::move(common));
  return flows_.back().variable;
}

/// A device gets what its share touches, from the home or from devices that got it. All that is used away from home
/// has to leave home.
void BoundProgram::add_inputs(std::size_t matrix, MemoryId home) {
  if (size_[matrix] == 0) return;
  std::vector<Terms> into(devices_.size());
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> passed(devices_.size());  // flow, to
  Terms leaves;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == home) continue;
    if (topology_.has_route(home, devices_[d])) {
      const std::size_t fetched = flow(home, devices_[d]);
      into[d].push_back({fetched, 1}), leaves.push_back({fetched, 1});
    }
    if (!has_every_pair()) into[d].push_back({flow_between_any(devices_[d], true), 1});
    for (std::size_t s = 0; has_every_pair() && s < devices_.size(); ++s)
      if (s != d && devices_[s] != home && topology_.has_route(devices_[s], devices_[d])) {
        const std::size_t sent = flow(devices_[s], devices_[d]);
        into[d].push_back({sent, 1}), passed[s].push_back({sent, d});
      }
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == home) continue;
    for (const auto& [sent, to] : passed[d]) {  // at most what it got
      Terms terms = into[d];
      terms.push_back({sent, -1});
      program_.add_row(0, unlimited, terms);
    }
    into[d].push_back({device_[d].holds[matrix], -1});
    program_.add_row(0, unlimited, into[d]);
  }
  if (is_device(home)) leaves.push_back({device_[number_of(home)].share, size_[matrix]});
  program_.add_row(size_[matrix], unlimited, leaves);
}

/// C goes to devices where it is read, and what a device touches leaves it: to the home, or as a part of a sum to a
/// device that goes on with it.
void BoundProgram::add_c() {
  const MemoryId home = problem_.place_c;
  Terms read, written;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == home) continue;
    Terms leaves;
    if (topology_.has_route(devices_[d], home)) {
      const std::size_t sent = flow(devices_[d], home);
      leaves.push_back({sent, 1}), written.push_back({sent, 1});
    }
    if (!has_every_pair()) leaves.push_back({flow_between_any(devices_[d], false), 1});
    for (std::size_t t = 0; has_every_pair() && t < devices_.size(); ++t)
      if (t != d && devices_[t] != home && topology_.has_route(devices_[d], devices_[t]))
        leaves.push_back({flow(devices_[d], devices_[t]), 1});
    leaves.push_back({device_[d].holds[c], -1});
    program_.add_row(0, unlimited, leaves);
    if (problem_.beta != 0 && !is_device(home) && topology_.has_route(home, devices_[d]))
      read.push_back({flow(home, devices_[d]), 1});
  }
  if (is_device(home)) written.push_back({device_[number_of(home)].share, size_[c]});
  program_.add_row(size_[c], unlimited, written);
  if (!read.empty()) program_.add_row(size_[c], unlimited, read);
}

}  // namespace tilerail
