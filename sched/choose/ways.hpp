#pragma once

#include <string>
#include <vector>

#include "sched/policy/question.hpp"

namespace tilerail {

/// Policies that differ from that of the question in how tiles are dealt and moved: its own first, then those that
/// often win somewhere, and those of the other presets. Fields that are overridden, and those that cannot matter, stay
/// as they are. None is listed twice. docs/model.md#ways
std::vector<Policy> first_ways(const Question& question);

/// Those that differ from `way` in one such field.
std::vector<Policy> ways_beside(const Question& question, const Policy& way);

/// What of the fields that ways differ in is other than in the question's policy: " sends=free order=fifo".
std::string changes_text(const Question& question, const Policy& way);

/// Equal for ways that wish the same.
std::string way_key(const Policy& way);

}  // namespace tilerail
