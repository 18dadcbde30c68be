#pragma once

#include <string>
#include <vector>

#include "study/tune/tune.hpp"

namespace tilerail::cli {

/// A line for each task: what the estimate, the policy and the tuned plan take; then what failed.
std::string to_text(const std::vector<study::TuneResult>& results);
/// A line for each plan of a file.
std::string to_text(const study::PlanCache& cache);

}  // namespace tilerail::cli
