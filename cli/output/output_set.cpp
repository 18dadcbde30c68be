#include "cli/output/output_set.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "cli/output/standard_output.hpp"
#include "model/base/error.hpp"

namespace tilerail::cli {

namespace fs = std::filesystem;

namespace {

/// A device or a pipe, which is written in place: it cannot be replaced by a file.
bool is_device(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

}  // namespace

void OutputSet::expect(const std::string& path, const std::string& option) {
  if (path.empty()) return;
  std::error_code error;
  const fs::path place{path};
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path{"."};
  if (path == "-") return expect_once(path, path, option);
  if (!place.has_filename() || fs::is_directory(place, error)) {
    throw InputError{fmt::format("{}: '{}' is a folder, not a file to write", option, path)};
  }
  if (!fs::is_directory(folder, error)) {
    throw InputError{fmt::format("{}: '{}' cannot be written: there is no folder '{}'", option, path, folder.string())};
  }
  if (is_device(place)) return;
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError{fmt::format("{}: '{}' cannot be written: no permission in '{}'", option, path, folder.string())};
  }
  expect_once(fs::weakly_canonical(place, error), path, option);
  refuse_to_read(path, fmt::format("{}: '{}'", option, path));
}

void OutputSet::expect_once(const fs::path& place, const std::string& path, const std::string& option) {
  if (std::find(expected_.begin(), expected_.end(), place) != expected_.end())
    throw InputError{fmt::format("{}: '{}' is named for two outputs", option, path)};
  expected_.push_back(place);
}

void OutputSet::add(const std::string& path, std::string_view content) {
  add(path, [&](const TextSink& sink) { sink(content); });
}

void OutputSet::add(const std::string& path, const TextSource& content) {
  if (path.empty()) return;
  if (path != "-") {
    files_.emplace_back(path, content);
    return;
  }
  std::string& text = standard_output_.emplace();
  content([&](std::string_view piece) { text += piece; });
}

void OutputSet::finish(std::string_view text) {
  for (StagedFile& file : files_) file.commit();
  print(standard_output_ ? *standard_output_ : text);
}

}  // namespace tilerail::cli
