// What must cross between devices that are near each other and all others: the rows of BoundProgram for sets of
// devices.
#include <algorithm>

#include "cost/bound_program.hpp"
#include "model/machine/islands.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

}  // namespace

/// What a set touches is at least what one of its devices does, and what Loomis and Whitney say of its share. All of
/// that enters the set, where the home is outside, and what it touches of C leaves it.
void BoundProgram::add_islands() {
  if (!product_ || !problem_.has_b() || !has_every_pair()) return;
  const std::array homes{problem_.place_a, problem_.place_b, problem_.place_c};
  for (std::vector<std::size_t>& members : islands(topology_, devices_)) {
    Island& island = islands_.emplace_back(Island{std::move(members), {}, {}});
    const auto inside = [&](MemoryId memory) {
      return topology_.has_copies(memory) ||
             std::ranges::any_of(island.devices, [&](std::size_t d) { return devices_[d] == memory; });
    };
    for (const Matrix matrix : {a, b, c}) {
      island.touches[matrix] = program_.add_variable(0, size_[matrix]);
      for (const std::size_t d : island.devices)
        program_.add_row(0, unlimited, {{island.touches[matrix], 1}, {device_[d].holds[matrix], -1}});
      if (inside(homes[matrix]) || (matrix != c && !inputs_come_)) continue;
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
