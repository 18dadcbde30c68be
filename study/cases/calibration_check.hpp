#pragma once

#include <string_view>
#include <vector>

#include "study/cases/case_study.hpp"

namespace tilerail::study {

/// About ten cases to check a description against its machine: short (some hundredths of
/// a second), in all described types, with matrices on the host and on GPUs, several
/// policies, and default and small tiles.
std::vector<Case> check_cases(const Topology& machine);

/// Predicts the check cases and runs them on "host" or "cuda" with results checked.
/// Throws the errors of CaseStudy and Runner, and HardwareError in a build without
/// simulator.
std::vector<CaseResult> checked_description(const Topology& machine,
                                            std::string_view backend);

}  // namespace tilerail::study
