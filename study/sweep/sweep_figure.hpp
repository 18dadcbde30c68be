#pragma once

#include <span>
#include <string>

#include "study/sweep/sweep.hpp"

namespace tilerail::study {

/// An SVG file: makespans and bounds over the numbers of an axis, or over its names if no
/// axis has numbers, with a line for each combination of the other axes. Rates if the
/// size or the type of the problem varies. At least one row must have a result.
std::string sweep_svg(const Sweep& sweep, std::span<const SweepRow> rows);

/// Throws InputError if the figure would have too many lines.
void require_figure(const Sweep& sweep);

}  // namespace tilerail::study
