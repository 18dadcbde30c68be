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
  /// Reads the complete lines of the file, if it exists; append() creates it.
  explicit LineLog(std::string path);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  const std::string& path() const { return path_; }
  /// The lines at construction.
  const std::vector<std::string>& lines() const { return lines_; }
  /// `line` has no newline.
  void append(std::string_view line);
  /// Removes the file, if it exists.
  void remove();

 private:
  void open(int flags);

  std::string path_;
  int descriptor_ = -1;
  std::vector<std::string> lines_;
};

}  // namespace tilerail
