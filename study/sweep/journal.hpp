#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "model/base/line_log.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::study {

/// The rows of a sweep in a file, for the run that continues an interrupted sweep. A row
/// is found by its machine, problem, policy and the program, so that a changed sweep
/// takes the rows that both have (docs/formats.md#sweep). Several threads can share a
/// journal.
class SweepJournal {
 public:
  /// Reads the file, or creates it. Throws InputError with its path, and with the line
  /// that is not a row. Keeps a reference to the sweep.
  SweepJournal(const Sweep& sweep, const Machines& machines, const std::string& path);

  /// nullopt: the file lacks a row of this point.
  std::optional<SweepRow> find(size_t point) const;
  /// Throws InputError if the file cannot be written.
  void add(const SweepRow& row);
  /// Removes the file: the rows are in their table.
  void remove() { log_.remove(); }

 private:
  std::string key_of(size_t point) const;

  const Sweep& sweep_;
  std::string program_;                          // its size and time
  std::map<std::string, std::string> machines_;  // their hashes
  LineLog log_;
  std::map<std::string, SweepRow> rows_;  // of the file, by key
  std::mutex mutex_;                      // of the file
};

}  // namespace tilerail::study
