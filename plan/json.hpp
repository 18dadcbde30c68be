#pragma once

#include <istream>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/base/files.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// JSON with a schema version and the content hash (docs/formats.md#plan), piece by
/// piece: that of millions of operations is larger than the plan.
void write_json(const Plan& plan, const TextSink& sink);

/// A valid plan. Reads one operation after another: what the text takes in memory does
/// not grow with their number. Throws InputError naming the JSON path, the value and what
/// was expected; also when the hash does not match.
Plan plan_from_json(std::istream& json, const std::string& file);

/// The routine, sizes, data type, transpositions and scalars of a problem, with the keys
/// of plan files.
nlohmann::ordered_json problem_json(const GemmProblem& problem);

}  // namespace tilerail
