#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/problem.hpp"

namespace tilerail {

/// The routine, sizes, data type, transpositions and scalars of a problem, with the keys of plan files.
/// docs/formats.md#plan
nlohmann::ordered_json problem_json(const GemmProblem& problem);

}  // namespace tilerail
