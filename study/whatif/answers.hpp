#pragma once

#include <optional>
#include <vector>

#include "study/whatif/whatif.hpp"

namespace tilerail::study {

/// Parts that save at least a hundredth of the makespan when they are doubled, the most first.
std::vector<size_t> worth_upgrading(const WhatIf& what);

/// Parts that may be half as good for no time, and better without gain.
std::vector<size_t> idle_parts(const WhatIf& what);

/// The row of a better part, but no kernels, whose plan has the largest share of kernels in its critical path; null
/// where none has more than there is now.
const WhatIfRow* most_kernels(const WhatIf& what);

/// Rows of better parts that make the problem slower: all plans are.
std::vector<const WhatIfRow*> slower_rows(const WhatIf& what);
/// Rows of worse parts with which it is faster, the fastest first.
std::vector<const WhatIfRow*> faster_rows(const WhatIf& what);

}  // namespace tilerail::study
