#pragma once

#include <span>
#include <string>

#include "study/cases/case_study.hpp"

namespace tilerail::study {

/// A header and one line a case (docs/formats.md#cases).
std::string to_csv(std::span<const CaseResult> results);

}  // namespace tilerail::study
