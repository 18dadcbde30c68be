#pragma once

#include <string>

#include "plan/plan.hpp"

namespace tilerail {

/// JSON with a schema version and the content hash (docs/formats.md#plan).
std::string to_json(const Plan& plan);
/// A valid plan. Throws InputError naming the JSON path, the value and what was expected; also when the hash does not
/// match.
Plan plan_from_json(const std::string& json, const std::string& file);

}  // namespace tilerail
