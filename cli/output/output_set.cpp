#include "cli/output/output_set.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "model/base/error.hpp"
#include "model/base/files.hpp"

namespace tilerail::cli {

namespace fs = std::filesystem;

namespace {

/// A device or a pipe, which is written in place: it cannot be replaced by a file.
bool is_device(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

}  // namespace

OutputSet::~OutputSet() {
  std::error_code ignored;
  for (const File& file : files_) {
    if (!file.staged.empty()) fs::remove(file.staged, ignored);
  }
}

void OutputSet::expect(const std::string& path, const std::string& option) {
  std::error_code error;
  const fs::path place{path};
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path{"."};
  if (path.empty() || !place.has_filename() || fs::is_directory(place, error)) {
    throw InputError{fmt::format("{}: '{}' is a folder, not a file to write", option, path)};
  }
  if (!fs::is_directory(folder, error)) {
    throw InputError{fmt::format("{}: '{}' cannot be written: there is no folder '{}'", option, path, folder.string())};
  }
  if (is_device(place)) return;
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError{fmt::format("{}: '{}' cannot be written: no permission in '{}'", option, path, folder.string())};
  }
  const fs::path same = fs::weakly_canonical(place, error);
  if (std::find(expected_.begin(), expected_.end(), same) != expected_.end()) {
    throw InputError{fmt::format("{}: '{}' is named for two outputs", option, path)};
  }
  expected_.push_back(same);
}

fs::path OutputSet::stage(const std::string& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(path, error);  // a symbolic link stays one
  const std::string name = fmt::format(".{}.{}{}", place.stem().string(), getpid(), place.extension().string());
  files_.push_back({place, place.parent_path() / name});
  return files_.back().staged;
}

fs::path OutputSet::add(const std::string& path, std::string_view content) {
  if (is_device(path)) {
    files_.push_back({path, {}, std::string{content}});
    return path;
  }
  const fs::path staged = stage(path);
  std::ofstream file{staged, std::ios::binary};
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw InputError{fmt::format("'{}' could not be written; is the disk full?", path)};
  return staged;
}

void OutputSet::commit() {
  for (File& file : files_) {
    if (file.staged.empty()) {
      write_file_atomically(file.place, file.content);
      continue;
    }
    std::error_code error;
    fs::rename(file.staged, file.place, error);
    if (error) {
      throw InputError{fmt::format("'{}' could not be written: {}", file.place.string(), error.message())};
    }
    file.staged.clear();
  }
}

}  // namespace tilerail::cli
