#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/evaluation.hpp"
#include "study/job.hpp"
#include "study/parallel.hpp"
#include "study/whatif/knob.hpp"

namespace tilerail::study {

/// Knobs that are changed simultaneously: equivalent knobs, or one.
struct Part {
  std::string name;  // "link:host->gpu*": of several, with a * for each number
  std::string now;   // "24 GB/s"
  std::vector<Knob> knobs;
};

struct PartSelection {
  bool each = false;  // every knob alone
  std::vector<std::string>
      only;  // patterns of names of knobs, with * ? and [0-3]; empty: all
};

/// Knobs are equivalent if their names differ in numbers only and their figures do not
/// differ. Then the part of all links and groups, if there are several. Throws InputError
/// for a pattern that nothing fits.
std::vector<Part> parts_of(const Topology& topology, const GemmProblem& problem,
                           const PartSelection& selection);

/// A part of the machine, `factor` times as good.
struct Trial {
  Evaluation planned;  // a plan made for the changed machine, simulated there
  Evaluation
      kept;  // the best plan for the machine as it is, simulated on the changed one
  double taken_back =
      0;  // s: the plan made for the changed machine, simulated on the machine as it is

  const Evaluation& best() const {
    return planned.makespan <= kept.makespan ? planned : kept;
  }
};

/// A part that is so many times as good: its trial, or the reason why it has no trial.
struct WhatIfRow {
  size_t part = 0;
  double factor = 1;
  std::optional<Trial> trial = {};
  std::string error = {};
};

struct WhatIf {
  std::vector<Part> parts = {};
  std::vector<WhatIfRow> rows =
      {};                // by time saved, the most first; those without a trial last
  Summary summary = {};  // of the best plan for the machine as it is
  Evaluation now = {};   // of the same: from there time is saved

  double saved(const WhatIfRow& row) const {
    return row.trial ? now.makespan - row.trial->best().makespan : 0;
  }
  /// Whether the row saves or costs less than 0.1 %.
  bool is_negligible(const WhatIfRow& row) const;
  /// Parts all of whose rows are negligible.
  std::vector<size_t> idle_parts() const;
};

/// Plans and simulates everything. Throws InputError if the machine as it is cannot run
/// the problem. The result does not depend on the number of threads.
WhatIf what_if(const Topology& topology, const JobText& job,
               const PartSelection& selection, const Workers& workers);

/// A row for each change of a part (docs/formats.md#what-if).
nlohmann::ordered_json rows_of(const WhatIf& what);

}  // namespace tilerail::study
