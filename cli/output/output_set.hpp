#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/files.hpp"

namespace tilerail::cli {

/// Files that appear all together or not at all. What finish() was not called for leaves no trace. As a path, "-" is
/// stdout, and "" is nowhere.
class OutputSet {
 public:
  /// To be called before any work: throws InputError "OPTION: ..." when `path` could not be written later. What is read
  /// from then on cannot be that file.
  void expect(const std::string& path, const std::string& option);

  /// Throws InputError when the content cannot be staged.
  void add(const std::string& path, std::string_view content);
  void add(const std::string& path, const TextSource& content);

  /// Everything goes to its place. To stdout goes what was added for it, else `text`. Throws InputError when something
  /// cannot be written.
  void finish(std::string_view text);

 private:
  void expect_once(const std::filesystem::path& place, const std::string& path, const std::string& option);

  std::vector<std::filesystem::path> expected_;
  std::vector<StagedFile> files_;
  std::optional<std::string> standard_output_;
};

}  // namespace tilerail::cli
