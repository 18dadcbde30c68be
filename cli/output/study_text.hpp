#pragma once

#include <span>
#include <string>

#include "study/cases/case_study.hpp"
#include "study/sweep/sweep.hpp"
#include "study/whatif/whatif.hpp"

namespace tilerail::cli {

/// A line before the tables of a command; "" for an empty note.
inline std::string note_text(const std::string& note) {
  return note.empty() ? "" : "note: " + note + "\n";
}

/// The unchanged machine, a table of effective changes, and the parts without effect.
std::string to_text(const study::WhatIf& what);

/// A line per case, then the errors and the ranking quality of groups.
std::string to_text(std::span<const study::CaseResult> results);

/// A few points are all listed; of many, the fastest and a summary of each axis. Failed
/// points follow.
std::string to_text(const study::Sweep& sweep, std::span<const study::SweepRow> rows);

}  // namespace tilerail::cli
