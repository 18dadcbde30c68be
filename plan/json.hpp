#pragma once

#include <istream>
#include <string>

#include "model/base/files.hpp"
#include "model/base/table.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Writes JSON with a schema version and the content hash (docs/formats.md#plan) piece by
/// piece, because the text of millions of operations is larger than the plan.
void write_json(const Plan& plan, const TextSink& sink);

/// Reads a valid plan, one operation after another: the memory for the text does not grow
/// with the number of operations. Throws InputError with the JSON path, the value and the
/// expectation; also if the hash does not match.
Plan plan_from_json(std::istream& json, const std::string& file);

/// The routine, sizes, data type, transpositions and scalars of a problem, with the keys
/// of plan files.
Columns<GemmProblem> problem_columns();

}  // namespace tilerail
