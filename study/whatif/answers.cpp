#include "study/whatif/answers.hpp"

#include <algorithm>
#include <cmath>

namespace tilerail::study {

std::vector<size_t> worth_upgrading(const WhatIf& what) {
  constexpr double least = 0.01;
  std::vector<size_t> parts;
  for (const WhatIfRow& row : what.rows)
    if (row.factor == 2 && what.saved(row) >= least * what.now.makespan) parts.push_back(row.part);
  return parts;
}

std::vector<size_t> idle_parts(const WhatIf& what) {
  std::vector<size_t> parts;
  for (size_t part = 0; part < what.parts.size(); ++part) {
    bool known = false, moves = false;
    for (const WhatIfRow& row : what.rows) {
      if (row.part != part) continue;
      known = known || row.trial;
      moves = moves || !row.trial || std::abs(what.saved(row)) >= negligible_share * what.now.makespan;
    }
    if (known && !moves) parts.push_back(part);
  }
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

std::vector<const WhatIfRow*> slower_rows(const WhatIf& what) {
  std::vector<const WhatIfRow*> rows;
  for (const WhatIfRow& row : what.rows)
    if (row.factor > 1 && what.saved(row) <= -negligible_share * what.now.makespan) rows.push_back(&row);
  std::ranges::reverse(rows);  // the slowest first
  return rows;
}

std::vector<const WhatIfRow*> faster_rows(const WhatIf& what) {
  std::vector<const WhatIfRow*> rows;
  for (const WhatIfRow& row : what.rows)
    if (row.factor < 1 && what.saved(row) >= negligible_share * what.now.makespan) rows.push_back(&row);
  return rows;
}

}  // namespace tilerail::study
