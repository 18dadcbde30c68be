#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/files.hpp"
#include "model/base/output_target.hpp"

namespace tilerail::cli {

/// Writes to stdout. Throws InputError when not all of it arrives, as on a device that is
/// full.
void print(std::string_view text);

/// Files that appear all together or not at all. What finish() was not called for leaves
/// no trace. As a path, "-" and any other name of stdout are stdout, and "" is nowhere.
class OutputSet {
 public:
  /// To be called before any work: throws InputError "OPTION: ..." when `path` could not
  /// be written later, or when another output is written to the same file. What is read
  /// from then on cannot be that file.
  void expect(const std::string& path, const std::string& option);

  /// Throws InputError when the content cannot be staged.
  void add(const std::string& path, std::string_view content);
  void add(const std::string& path, const TextSource& content);

  /// Everything goes to its place, files last. To stdout goes what was added for it, else
  /// `text`. Throws InputError when something cannot be written.
  void finish(std::string_view text);

 private:
  /// An output that is expected.
  struct Expected {
    OutputIdentity identity;
    std::string path, option;
  };

  void expect_once(const OutputIdentity& identity, const std::string& path,
                   const std::string& option);

  std::vector<Expected> expected_;
  std::vector<StagedFile> files_;
  std::optional<std::string> standard_output_;
};

}  // namespace tilerail::cli
