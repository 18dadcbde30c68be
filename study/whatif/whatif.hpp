#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/base/table.hpp"
#include "study/evaluation.hpp"
#include "study/job.hpp"
#include "study/parallel.hpp"
#include "study/whatif/knob.hpp"

namespace tilerail::study {

/// Knobs that are changed simultaneously: equivalent knobs, or one.
struct Part {
  std::string name;  // "link:host->gpu*" for several, with a * for each number
  std::string now;   // "24 GB/s"
  std::vector<Knob> knobs;
};

struct PartSelection {
  bool each = false;  // every knob alone
  std::vector<std::string>
      only;  // patterns of knob names, with * ? and [0-3]; empty: all
};

/// Knobs are equivalent if their names differ only in numbers and their figures are
/// equal. Without patterns, the last part is all links and groups. Throws InputError for
/// a pattern that matches nothing.
std::vector<Part> parts_of(const Topology& topology, const GemmProblem& problem,
                           const PartSelection& selection);

/// A part of the machine, `factor` times as good.
struct Trial {
  Evaluation planned;  // a plan made for the changed machine, simulated there
  Evaluation kept;     // the baseline plan, simulated on the changed machine
  double taken_back =
      0;  // s: the plan for the changed machine, simulated on the unchanged one

  const Evaluation& best() const {
    return planned.makespan <= kept.makespan ? planned : kept;
  }
  double saved(double makespan) const { return makespan - best().makespan; }
};

/// A change of a part: its trial, or the error that prevented it.
struct WhatIfRow {
  size_t part = 0;
  double factor = 1;
  std::optional<Trial> trial = {};
  std::string error = {};
};

struct WhatIf {
  std::vector<Part> parts = {};
  std::vector<WhatIfRow> rows =
      {};                // by time saved, descending; rows without a trial last
  Summary summary = {};  // of the baseline plan
  Evaluation now = {};   // of the same plan: the baseline of savings

  double saved(const WhatIfRow& row) const {
    return row.trial ? row.trial->saved(now.makespan) : 0;
  }
  /// Whether the row changes the makespan by less than 0.1 %.
  bool is_negligible(const WhatIfRow& row) const;
  /// Parts whose rows are all negligible.
  std::vector<size_t> idle_parts() const;
};

/// Plans and simulates all changes. Throws InputError if the unchanged machine cannot run
/// the problem. The result does not depend on the number of threads.
WhatIf what_if(const Topology& topology, const JobText& job,
               const PartSelection& selection, const Workers& workers);

/// docs/formats.md#what-if. Keeps a reference to `what`.
Columns<WhatIfRow> columns_of(const WhatIf& what);

/// "x2", "x1/2" or "no limit".
std::string change_text(double factor);

}  // namespace tilerail::study
