#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/files.hpp"
#include "model/base/output_target.hpp"

namespace tilerail::cli {

/// Writes to stdout. Throws InputError after an incomplete write, as on a full device.
void print(std::string_view text);

/// Throws InputError "OPTION: ..." unless the name has one of these extensions.
void check_extension(const std::string& path, const std::string& option,
                     const std::vector<std::string>& known);
/// The same for figures: .svg.
void check_figure(const std::string& path, const std::string& option);

/// Files that are written all or none. Without finish(), no file remains. The paths "-"
/// and any other name of stdout mean stdout, "" means no output.
class OutputSet {
 public:
  /// Call this before any work. Throws InputError "OPTION: ..." if `path` could not be
  /// written later, or if another output has the same file. Later input cannot be this
  /// file.
  void expect(const std::string& path, const std::string& option);

  /// Throws InputError if the content cannot be staged.
  void add(const std::string& path, std::string_view content);
  void add(const std::string& path, const TextSource& content);

  /// Writes everything, files last. Stdout gets the content added for it, else `text`.
  /// Throws InputError if a write fails.
  void finish(std::string_view text);

 private:
  /// An expected output.
  struct Output {
    OutputIdentity identity;
    std::string path, option;
  };

  void expect_once(const OutputIdentity& identity, const std::string& path,
                   const std::string& option);

  std::vector<Output> expected_;
  std::vector<StagedFile> files_;
  std::optional<std::string> standard_output_;
};

}  // namespace tilerail::cli
