#pragma once

#include <span>
#include <string>

#include "study/cases/case_study.hpp"

namespace tilerail::study {

/// A header and one line a case (docs/formats.md#cases).
std::string to_csv(std::span<const CaseResult> results);

/// The same cells by name, null where they are empty, and how large the errors are; with a line break at the end.
std::string to_json(std::span<const CaseResult> results, const Topology& topology, const std::string& backend);

}  // namespace tilerail::study
