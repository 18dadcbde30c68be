#pragma once

#include <span>
#include <string>

#include "study/cases/case_study.hpp"

namespace tilerail::cli {

/// A line per case, then the errors and the ranking quality of groups.
std::string to_text(std::span<const study::CaseResult> results);

}  // namespace tilerail::cli
