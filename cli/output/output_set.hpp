#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail::cli {

/// Files that appear all together or not at all: each is written beside its place first, and moved there by commit().
/// What commit() was not called for leaves no trace.
class OutputSet {
 public:
  OutputSet() = default;
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;
  ~OutputSet();

  /// To be called before any work: throws InputError "OPTION: ..." when `path` could not be written later.
  void expect(const std::string& path, const std::string& option);

  /// Writes `content` beside `path`; into a device or a pipe, not before commit(). Returns where it was
  /// written. Throws InputError when that fails.
  std::filesystem::path add(const std::string& path, std::string_view content);

  /// A file beside `path`, with its extension, that someone else writes before commit().
  std::filesystem::path stage(const std::string& path);

  void commit();

 private:
  struct File {
    std::filesystem::path place, staged;  // staged: empty for a device or a pipe, and once it was moved
    std::string content = {};             // of a device or a pipe
  };
  std::vector<std::filesystem::path> expected_;
  std::vector<File> files_;
};

}  // namespace tilerail::cli
