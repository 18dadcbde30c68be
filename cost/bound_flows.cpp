// What is copied over which links: the rows of BoundProgram for the nodes of the machine. docs/model.md#bound
#include <algorithm>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

}  // namespace

std::optional<std::size_t> BoundProgram::device_at(std::size_t node) const {
  const auto found = std::ranges::find(device_, node, &Device::node);
  if (found == device_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - device_.begin());
}

/// One for each memory that holds some of it: of interleaved pages each tile has equally much in all of these.
void BoundProgram::add_parts(Matrix matrix, MemoryId place, const std::vector<MatrixBlock>& blocks) {
  if (size_[matrix] == 0 || topology_.has_copies(place)) return;
  double all = 0;
  for (const MatrixBlock& block : blocks) all += static_cast<double>(block.rows) * static_cast<double>(block.cols);
  const std::size_t first = parts_.size();
  for (const MatrixBlock& block : blocks) {
    const auto homes = topology_.parts_of(block.memory);
    const double size = static_cast<double>(block.rows) * static_cast<double>(block.cols) / all;
    for (const MemoryId home : homes)
      parts_.push_back({matrix, topology_.memory(home).node.index(), size / static_cast<double>(homes.size()), {}, {}});
  }
  for (std::size_t d = 0; blocks.size() > 1 && d < devices_.size(); ++d) {
    Terms all_of_it{{device_[d].holds[matrix], -1}};
    for (std::size_t p = first; p < parts_.size(); ++p) {
      parts_[p].holds.push_back(program_.add_variable(0, parts_[p].size));
      all_of_it.push_back({parts_[p].holds.back(), 1});
    }
    program_.add_row(0, 0, all_of_it);
  }
  for (std::size_t p = first; p < parts_.size(); ++p) {
    add_flows(parts_[p]);
    matrix == c ? add_results(parts_[p]) : matrix == old ? add_old(parts_[p]) : add_inputs(parts_[p]);
  }
}

/// Of the copies of an element, those count that a memory needs: of inputs one into each memory, of results one from
/// each device that passes a sum on, over as many memories as there are.
double BoundProgram::most(const Part& part) const {
  const auto memories = static_cast<double>(memories_.size());
  return part.size * memories * (part.matrix == c ? 2 * static_cast<double>(devices_.size()) : 1);
}

void BoundProgram::add_flows(Part& part) {
  for (const BoundGraph::Link& link : graph_.links()) {
    const bool of_no_use = part.matrix == c ? link.from == part.home && !device_at(part.home) : link.to == part.home;
    part.flow.push_back(program_.add_variable(0, of_no_use ? 0 : most(part)));
  }
  for (std::size_t node = 0; node < graph_.nodes(); ++node)
    if (graph_.is_switch(node)) program_.add_row(0, 0, comes(part, node, 1));
}

/// What a device touches of a part: of its matrix as much as of any part, or a variable of its own.
BoundProgram::Terms BoundProgram::held(const Part& part, std::size_t device, double factor) const {
  if (!part.holds.empty()) return {{part.holds[device], factor}};
  return {{device_[device].holds[part.matrix], factor * part.size}};
}

/// What comes into a node, less what leaves it.
BoundProgram::Terms BoundProgram::comes(const Part& part, std::size_t node, double factor) const {
  Terms terms;
  for (const std::size_t link : graph_.into(node)) terms.push_back({part.flow[link], factor});
  for (const std::size_t link : graph_.out_of(node)) terms.push_back({part.flow[link], -factor});
  return terms;
}

/// A device gets what it touches, unless that is at home there. Cuts say from where.
void BoundProgram::add_inputs(const Part& part) {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (device_[d].node == part.home) continue;
    Terms terms = held(part, d, -1);
    for (const std::size_t link : graph_.into(device_[d].node)) terms.push_back({part.flow[link], 1});
    program_.add_row(0, unlimited, terms);
  }
}

/// The sums of an element make a tree: each of them leaves a device, or a memory that passes it on, once, and where
/// several come to a device, or one comes to a device that has its own, one may leave. The last is at home.
void BoundProgram::add_results(const Part& part) {
  for (const MemoryId memory : memories_) {
    const std::size_t node = topology_.memory(memory).node.index();
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
    for (const std::size_t link : graph_.out_of(node)) leaves.push_back({part.flow[link], 1});
    program_.add_row(0, unlimited, leaves);
  }
}

/// Each element is read by some device.
void BoundProgram::add_old(const Part& part) {
  for (const MemoryId memory : memories_) {
    const std::size_t node = topology_.memory(memory).node.index();
    Terms terms = comes(part, node, 1);
    if (const auto device = device_at(node))
      for (const auto& term : held(part, *device, -1)) terms.push_back(term);
    const double leaves = node == part.home ? -part.size : 0;
    program_.add_row(leaves, leaves, terms);
  }
}

}  // namespace tilerail
