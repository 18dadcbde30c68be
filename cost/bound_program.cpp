#include "cost/bound_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

}  // namespace

BoundProgram::BoundProgram(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                           Staging staging, Caches caches)
    : problem_{problem},
      topology_{topology},
      devices_{devices},
      staging_{staging},
      inputs_come_{caches == Caches::empty && !problem.scales_only()},
      need_{program_.add_variable(1)} {
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
  if (inputs_come_)
    add_inputs(a, problem.place_a, matrix_blocks(problem.rows_a(), problem.cols_a(), problem.place_a, topology));
  if (inputs_come_)
    add_inputs(b, problem.place_b, matrix_blocks(problem.rows_b(), problem.cols_b(), problem.place_b, topology));
  add_c();
  add_islands();
  add_compute();
  add_links();
  add_groups();
  add_engines();
}

/// A device that has no time for the shortest kernel does nothing.
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
  return share_ = program_.solve();
}

/// Of T, that a resource can be busy.
double BoundProgram::available(const Resource& r) const {
  if (!r.device) return time_;
  const Device& device = device_[*r.device];
  return r.multiplies ? work(device) : std::max(0.0, time_ - device.idle);
}

/// The time that its multiplications take at most with no load, of those that it can do in T.
double BoundProgram::work(const Device& device) const {
  return time_ > device.idle ? time_ * device.limits.work(1 - device.idle / time_, Seconds{time_ * unit_seconds_}) : 0;
}

/// The share of T that goes to a resource. Its price is what the need would change by if it were busy for longer, so
/// the sum of price times available time is 1. Before and after that it is idle.
double BoundProgram::explained(const Resource& r) const {
  const double busy = r.device ? 1 - device_[*r.device].idle / time_ : 1;
  return share_ * std::abs(program_.price(r.row)) * available(r) * busy;
}

std::string BoundProgram::binding() const {
  std::map<std::string_view, double> of_kind;
  double latency = 1;
  for (const Resource& r : resources_) of_kind[r.kind] += explained(r), latency -= explained(r);
  const auto kind = std::ranges::max_element(of_kind, {}, [](const auto& entry) { return entry.second; });
  if (kind == of_kind.end() || !(kind->second > latency)) return "latency";
  const auto price = [&](const Resource& r) { return std::abs(program_.price(r.row)); };
  const Resource* most = nullptr;  // the one that is worth most
  int others = -1;
  for (const Resource& r : resources_) {
    if (r.kind != kind->first || explained(r) < 0.01 * kind->second) continue;
    ++others;
    constexpr double rounding = 1e-6;
    if (!most || price(r) > (1 + rounding) * price(*most)) most = &r;
  }
  return others > 0 ? fmt::format("{} and {} more", most->name, others) : most->name;
}

/// Of the elements that are copied, each counts once. So there are no more than `most`.
std::size_t BoundProgram::flow(MemoryId src, MemoryId dst, Matrix of, double most) {
  const auto links = topology_.links_on(src, dst);
  const auto groups = topology_.groups_on(src, dst);
  Flow& flow = flows_.emplace_back(Flow{program_.add_variable(0, most),
                                        topology_.parts(src, dst),
                                        {links.begin(), links.end()},
                                        {groups.begin(), groups.end()}});
  flow.most = most;
  moves_[of].push_back({src, dst, flow.variable});
  if (topology_.is_host(src) && topology_.is_host(dst)) return flow.variable;
  const int role = topology_.is_host(src) ? 0 : topology_.is_host(dst) ? 1 : 2;
  flow.engine = {role == 0 ? dst : src, role};
  flow.fastest = fastest(src, dst);
  return flow.variable;
}

/// In units of bytes.
double BoundProgram::size_of(const MatrixBlock& block) const {
  return static_cast<double>(block.rows) * static_cast<double>(block.cols) *
         static_cast<double>(element_size(problem_.dtype)) / unit_bytes_;
}

/// It loads what the routes of all these pairs have in common, with equal parts.
std::size_t BoundProgram::flow_between_any(MemoryId device, bool into, Matrix of) {
  Flow common{program_.add_variable(0, size_[of])};
  common.most = size_[of];
  bool first = true;
  for (const MemoryId other : devices_) {
    const MemoryId src = into ? other : device, dst = into ? device : other;
    if (other == device || !topology_.has_route(src, dst)) continue;
    const auto links = topology_.links_on(src, dst);
    const auto groups = topology_.groups_on(src, dst);
    const int parts = topology_.parts(src, dst);
    if (first) {
      common.links.assign(links.begin(), links.end()), common.groups.assign(groups.begin(), groups.end());
      common.parts = parts;
    }
    first = false;
    if (parts != common.parts) common.links.clear(), common.groups.clear();
    std::erase_if(common.links, [&](const auto& link) { return std::ranges::find(links, link) == links.end(); });
    std::erase_if(common.groups,
                  [&](const Topology::GroupUse& use) { return std::ranges::find(groups, use) == groups.end(); });
  }
  flows_.push_back(std::move(common));
  return flows_.back().variable;
}

/// Hosts that copies between GPUs are staged on; where the home is a host, nothing is gained over it.
std::vector<MemoryId> BoundProgram::stages(MemoryId home) const {
  return staging_ == Staging::none || topology_.is_host(home) ? std::vector<MemoryId>{} : topology_.hosts();
}

/// What comes to devices over a host, which passes on no more than it got.
void BoundProgram::add_stage(Matrix matrix, MemoryId home, MemoryId host, std::vector<Terms>& into,
                             std::vector<std::vector<std::pair<std::size_t, std::size_t>>>& passed, Terms& leaves) {
  Terms got;
  if (topology_.has_route(home, host)) {
    got.push_back({flow(home, host, matrix, size_[matrix]), 1});
    leaves.push_back(got.back());
  }
  for (std::size_t s = 0; s < devices_.size(); ++s)
    if (devices_[s] != home && topology_.has_route(devices_[s], host)) {
      got.push_back({flow(devices_[s], host, matrix, size_[matrix]), 1});
      passed[s].push_back({got.back().first, s});
    }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == home || !topology_.has_route(host, devices_[d])) continue;
    const std::size_t fetched = flow(host, devices_[d], matrix, size_[matrix]);
    into[d].push_back({fetched, 1});
    Terms rest = got;
    rest.push_back({fetched, -1});
    program_.add_row(0, unlimited, rest);
  }
}

/// A device gets what its share touches, from the home or from devices that got it. All that is used away from home
/// has to leave home: each block the memory that it is in.
void BoundProgram::add_inputs(Matrix matrix, MemoryId home, const std::vector<MatrixBlock>& blocks) {
  if (size_[matrix] == 0 || topology_.has_copies(home)) return;
  std::vector<Terms> into(devices_.size());
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> passed(devices_.size());  // flow, to
  std::vector<Terms> leaves(blocks.size());
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == home) continue;
    for (std::size_t block = 0; block < blocks.size(); ++block)
      if (topology_.has_route(blocks[block].memory, devices_[d])) {
        const std::size_t fetched = flow(blocks[block].memory, devices_[d], matrix, size_of(blocks[block]));
        into[d].push_back({fetched, 1}), leaves[block].push_back({fetched, 1});
      }
    if (!has_every_pair()) into[d].push_back({flow_between_any(devices_[d], true, matrix), 1});
    for (std::size_t s = 0; has_every_pair() && s < devices_.size(); ++s)
      if (s != d && devices_[s] != home && topology_.has_route(devices_[s], devices_[d])) {
        const std::size_t sent = flow(devices_[s], devices_[d], matrix, size_[matrix]);
        into[d].push_back({sent, 1}), passed[s].push_back({sent, d});
      }
  }
  for (const MemoryId host : stages(blocks.front().memory))
    add_stage(matrix, blocks.front().memory, host, into, passed, leaves.front());
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
  if (is_device(home)) leaves.front().push_back({device_[number_of(home)].share, size_[matrix]});
  for (std::size_t block = 0; block < blocks.size(); ++block)
    program_.add_row(size_of(blocks[block]), unlimited, leaves[block]);
}

/// C goes to devices where it is read, and what a device touches leaves it: to the home, or as a part of a sum to a
/// device that goes on with it.
void BoundProgram::add_c() {
  const MemoryId home = problem_.place_c;
  const auto blocks = matrix_blocks(problem_.m, problem_.n, home, topology_);
  std::vector<Terms> read(blocks.size()), written(blocks.size());
  const std::vector<MemoryId> hosts = stages(blocks.front().memory);
  std::vector<Terms> staged(hosts.size());
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d] == home) continue;
    Terms leaves;
    for (std::size_t block = 0; block < blocks.size(); ++block)
      if (topology_.has_route(devices_[d], blocks[block].memory)) {
        const std::size_t sent = flow(devices_[d], blocks[block].memory, c, size_of(blocks[block]));
        leaves.push_back({sent, 1}), written[block].push_back({sent, 1});
      }
    if (!has_every_pair()) leaves.push_back({flow_between_any(devices_[d], false, c), 1});
    for (std::size_t t = 0; has_every_pair() && t < devices_.size(); ++t)
      if (t != d && devices_[t] != home && topology_.has_route(devices_[d], devices_[t]))
        leaves.push_back({flow(devices_[d], devices_[t], c, size_[c]), 1});
    for (std::size_t h = 0; h < hosts.size(); ++h)
      if (topology_.has_route(devices_[d], hosts[h])) {
        staged[h].push_back({flow(devices_[d], hosts[h], c, size_[c]), 1});
        leaves.push_back(staged[h].back());
      }
    leaves.push_back({device_[d].holds[c], -1});
    program_.add_row(0, unlimited, leaves);
    if (problem_.beta == 0 || is_device(home)) continue;
    for (std::size_t block = 0; block < blocks.size(); ++block)
      if (topology_.has_route(blocks[block].memory, devices_[d]))
        read[block].push_back({flow(blocks[block].memory, devices_[d], c, size_of(blocks[block])), 1});
  }
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (problem_.beta != 0 && !is_device(home) && topology_.has_route(home, hosts[h]))
      read.front().push_back({flow(home, hosts[h], c, size_[c]), 1});
    if (!topology_.has_route(hosts[h], home)) continue;
    const std::size_t home_again = flow(hosts[h], home, c, size_[c]);
    written.front().push_back({home_again, 1});
    staged[h].push_back({home_again, -1});
    program_.add_row(0, unlimited, staged[h]);
  }
  if (is_device(home)) written.front().push_back({device_[number_of(home)].share, size_[c]});
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    program_.add_row(size_of(blocks[block]), unlimited, written[block]);
    if (!read[block].empty()) program_.add_row(size_of(blocks[block]), unlimited, read[block]);
  }
}

}  // namespace tilerail
