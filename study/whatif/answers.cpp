#include "study/whatif/answers.hpp"

namespace tilerail::study {

std::vector<size_t> worth_upgrading(const WhatIf& what) {
  constexpr double least = 0.01;
  std::vector<size_t> parts;
  for (const WhatIfRow& row : what.rows)
    if (row.factor == 2 && what.saved(row) >= least * what.now.makespan) parts.push_back(row.part);
  return parts;
}

const WhatIfRow* most_kernels(const WhatIf& what) {
  const WhatIfRow* most = nullptr;
  double share = what.now.kernels;
  for (const WhatIfRow& row : what.rows)
    if (row.trial && row.factor > 1 && what.parts[row.part].carries() && row.trial->best().kernels > share)
      most = &row, share = row.trial->best().kernels;
  return most;
}

}  // namespace tilerail::study
