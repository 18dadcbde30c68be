#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/parallel.hpp"
#include "study/whatif/part.hpp"
#include "study/whatif/trial.hpp"

namespace tilerail::study {

/// A part, so many times as good, and what became of that: a trial, or why there is none.
struct WhatIfRow {
  size_t part = 0;
  double factor = 1;
  std::optional<Trial> trial = {};
  std::string error = {};
};

/// From which factor of a part on the machine is compute bound: 0, from less than an eighth; nothing, not by this part
/// alone or, where it is so already, by a part that may be half as good for nothing.
struct Turn {
  size_t part = 0;
  std::optional<double> by_bound = {}, by_simulation = {};
  std::string error = {};  // why it is not known
};

/// Parts that save, all doubled, nearly what doubling every part does, and more than any of them alone; each is needed
/// for that.
struct Together {
  std::vector<size_t> parts;
  double makespan = 0;  // s
};

/// Gives each row the best of the plans that were made for other rows of its part and tried on its machine, where that
/// is better than what the row has.
void share_plans(std::vector<WhatIfRow>& rows);

struct WhatIf {
  Question question;
  Plan plan = {};           // the best that is known for the machine as it is
  Summary summary = {};     // of that plan
  Evaluation planned = {};  // of the plan that is made for the machine as it is
  Evaluation now = {};      // of the best plan: from there time is saved
  /// Part and factor for which that best plan was made, where it is not the one made for the machine as it is: the
  /// planner missed it there, and no part is praised for that.
  std::optional<std::pair<size_t, double>> better = {};
  std::vector<Part> parts = {};
  std::vector<WhatIfRow> rows = {};  // by time saved, the most first; those without a trial last
  std::vector<Turn> turns = {};      // of the parts that carry something, in their order
  std::optional<Together> together = {};
  std::string together_error = {};  // why it is not known

  double saved(const WhatIfRow& row) const { return row.trial ? now.makespan - row.trial->best().makespan : 0; }
  const WhatIfRow* row(size_t part, double factor) const;
};

/// What less than this share of the makespan is counted as nothing.
constexpr double negligible_share = 1e-3;

/// Plans and simulates everything. Throws InputError if the machine as it is cannot run the problem. The result does
/// not depend on the number of threads.
WhatIf what_if(Question question, const PartSelection& selection, const Workers& workers);

}  // namespace tilerail::study
