#include "cli/output_set.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "model/error.hpp"

namespace tilerail::cli {

namespace fs = std::filesystem;

OutputSet::~OutputSet() {
  std::error_code ignored;
  for (const File& file : files_) {
    if (!file.moved) fs::remove(file.staged, ignored);
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
  const fs::path place{path};
  const std::string name = fmt::format(".{}.{}{}", place.stem().string(), getpid(), place.extension().string());
  files_.push_back({place, place.parent_path() / name, false});
  return files_.back().staged;
}

void OutputSet::add(const std::string& path, std::string_view content) {
  std::ofstream file{stage(path), std::ios::binary};
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw InputError{fmt::format("'{}' could not be written; is the disk full?", path)};
}

void OutputSet::commit() {
  for (File& file : files_) {
    std::error_code error;
    fs::rename(file.staged, file.place, error);
    if (error) {
      throw InputError{fmt::format("'{}' could not be written: {}", file.place.string(), error.message())};
    }
    file.moved = true;
  }
}

}  // namespace tilerail::cli
