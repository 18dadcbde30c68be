#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace tilerail::study {

/// The points of a sweep that are done, one line each, so that a sweep that was ended at any moment goes on where it
/// was. One process at a time has a journal open.
class Journal {
 public:
  /// Opens the file at `path` or makes it. `header` tells the sweep and what of it is done here. Throws InputError when
  /// the journal there is of something else or of no sweep at all, in use, or cannot be written.
  Journal(std::string path, const std::string& header);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// What was there: by point, its text.
  const std::map<std::size_t, std::string>& done() const { return done_; }

  /// Throws InputError naming the line of a point that was there: `message` says what is wrong with it.
  [[noreturn]] void refuse(std::size_t point, const std::string& message) const;

  /// Appends a line; when this returns, it survives the end of the process. `text` holds no line break.
  void add(std::size_t point, const std::string& text);

  /// Removes the file: its contents are elsewhere now.
  void remove();

 private:
  std::string content() const;
  void read_lines(const std::string& header);
  void append(const std::string& line);

  std::string path_;
  int file_ = -1;
  std::map<std::size_t, std::string> done_;
  std::map<std::size_t, std::size_t> lines_;  // by point, from 1
};

}  // namespace tilerail::study
