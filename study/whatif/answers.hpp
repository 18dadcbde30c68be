#pragma once

#include <vector>

#include "study/whatif/whatif.hpp"

namespace tilerail::study {

/// Parts that save at least a hundredth of the makespan when they are doubled, the most first.
std::vector<size_t> worth_upgrading(const WhatIf& what);

/// The row of a better part, but no kernels, whose plan has the largest share of kernels in its critical path; null
/// where none has more than there is now.
const WhatIfRow* most_kernels(const WhatIf& what);

}  // namespace tilerail::study
