#pragma once

#include <string_view>
#include <vector>

#include "study/cases/case_study.hpp"

namespace tilerail::study {

/// About ten plans that tell whether a description is near its machine: sizes that take
/// it some hundredths of a second at most, of the types that it knows, with matrices on
/// the host and on GPUs, by several policies, with tiles of their own choice and small
/// ones.
std::vector<Case> check_cases(const Topology& machine);

/// These, predicted and run on "host" or "cuda", results checked. Throws what CaseStudy
/// and Runner throw, HardwareError in a build without simulator, too.
std::vector<CaseResult> checked_description(const Topology& machine,
                                            std::string_view backend);

}  // namespace tilerail::study
