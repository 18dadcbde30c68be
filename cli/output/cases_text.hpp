#pragma once

#include <span>
#include <string>

#include "study/cases/case_study.hpp"

namespace tilerail::cli {

/// A line a case, then how large the errors are and how well groups are ranked.
std::string to_text(std::span<const study::CaseResult> results);

}  // namespace tilerail::cli
