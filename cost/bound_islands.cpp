// What must cross between devices that are near each other and all others: the rows of BoundProgram for sets of
// devices.
#include <algorithm>
#include <functional>
#include <set>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

}  // namespace

/// Devices that copies of at least some rate join, for every such rate: one set is in another, or they have nothing in
/// common. Those of one device and of all are left out: the rows of devices and of homes say as much.
std::vector<std::vector<std::size_t>> BoundProgram::islands() const {
  const std::size_t count = devices_.size();
  std::set<double, std::greater<>> rates;
  const auto rate = [&](std::size_t i, std::size_t j) {
    return topology_.has_route(devices_[i], devices_[j]) ? topology_.pair_rate(devices_[i], devices_[j]).value : 0;
  };
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      if (i != j) rates.insert(rate(i, j));
  rates.erase(0);
  std::set<std::vector<std::size_t>> found;
  for (const double least : rates) {
    std::vector<std::size_t> first(count);  // by device: the first of its set
    for (std::size_t i = 0; i < count; ++i) first[i] = i;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        if (i != j && rate(i, j) >= least && first[i] != first[j])
          std::ranges::replace(first, std::max(first[i], first[j]), std::min(first[i], first[j]));
    for (std::size_t root = 0; root < count; ++root) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < count; ++i)
        if (first[i] == root) members.push_back(i);
      if (members.size() > 1 && members.size() < count) found.insert(members);
    }
  }
  return {found.begin(), found.end()};
}

/// What a set touches is at least what one of its devices does, and what Loomis and Whitney say of its share. All of
/// that enters the set, where the home is outside, and what it touches of C leaves it.
void BoundProgram::add_islands() {
  if (!product_ || !problem_.has_b() || !has_every_pair()) return;
  const std::array homes{problem_.place_a, problem_.place_b, problem_.place_c};
  for (std::vector<std::size_t>& members : islands()) {
    Island& island = islands_.emplace_back(Island{std::move(members), {}, {}});
    const auto inside = [&](MemoryId memory) {
      return std::ranges::any_of(island.devices, [&](std::size_t d) { return devices_[d] == memory; });
    };
    for (const Matrix matrix : {a, b, c}) {
      island.touches[matrix] = program_.add_variable(0, size_[matrix]);
      for (const std::size_t d : island.devices)
        program_.add_row(0, unlimited, {{island.touches[matrix], 1}, {device_[d].holds[matrix], -1}});
      if (inside(homes[matrix])) continue;
      Terms crosses{{island.touches[matrix], -1}};
      for (const Move& move : moves_[matrix])
        if (inside(matrix == c ? move.src : move.dst) && !inside(matrix == c ? move.dst : move.src))
          crosses.push_back({move.variable, 1});
      program_.add_row(0, unlimited, crosses);
    }
    island.reuse = add_reuse(island.touches, island.devices);
  }
}

}  // namespace tilerail
