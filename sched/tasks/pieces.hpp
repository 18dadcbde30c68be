#pragma once

#include <optional>

#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// A tile that goes from one memory to the next as several copies of whole columns each, so that its copies over
/// different links overlap.
struct PieceCopies {
  OpId first{std::int32_t{0}}, last{std::int32_t{0}};  // consecutive operations

  int count() const { return last.value - first.value + 1; }
};

/// Into how many pieces a tile is cut: the policy's number, never more than its columns, nor pieces below the policy's
/// least size. A tile of 3 columns has at most 3.
int pieces_of(const PlanContext& context, const View& tile);

/// The columns of piece j of a view that goes in so many. Of 10 columns in 4 pieces, piece 1 has columns 2 to 4.
View piece(const View& whole, int j, int pieces);

/// Adds the copies of a tile between two memories on behalf of a device, in copy queue number `queue` of them. Each
/// waits for `deps`; piece j waits for piece j of the copies `before`, which brought the tile to where it is now, and
/// for all of these where they are another number.
PieceCopies copy_in_pieces(PlanContext& context, std::size_t device, const View& from, const View& to, int pieces,
                           int queue, const Deps& deps, const std::optional<PieceCopies>& before);

}  // namespace tilerail
