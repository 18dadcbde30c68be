#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// A file of lines that later runs of a program read. Each line is written as soon as it
/// is appended, so it outlives a program that is killed. One LineLog at a time can have
/// the file. Every member throws InputError with the path and the reason.
class LineLog {
 public:
  /// Reads the complete lines of the file, or creates it. A file that is not empty must
  /// begin with the line `kind`.
  LineLog(std::string path, std::string kind);
  /// Removes a file without lines.
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  /// The lines at construction, without the first.
  const std::vector<std::string>& lines() const { return lines_; }
  /// `line` has no newline. After an error the file is unchanged.
  void append(std::string_view line);
  void remove();

 private:
  bool open();
  void read();

  std::string path_, kind_;
  int descriptor_ = -1;
  size_t size_ = 0;  // of complete lines, in bytes
  std::vector<std::string> lines_;
};

}  // namespace tilerail
