#include "cli/output/output_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "model/base/error.hpp"

namespace tilerail::cli {
namespace {

bool is_standard_output(const std::string& path) {
  return path == "-" || output_target(path).is_standard_output();
}

}  // namespace

void print(std::string_view text) {
  const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return;
  throw fault_of("standard output",
                 "could not be written: " + std::generic_category().message(errno));
}

void check_extension(const std::string& path, const std::string& option,
                     const std::vector<std::string>& known) {
  const std::string extension = std::filesystem::path{path}.extension().string();
  if (std::ranges::find(known, extension) == known.end())
    throw InputError{option, path, "has an unknown extension",
                     fmt::format("one of: {}", fmt::join(known, ", "))};
}

void check_figure(const std::string& path, const std::string& option) {
  if (!path.ends_with(".svg"))
    throw InputError{option, path, "has an unknown extension",
                     ".svg; 'python -m tilerail' draws .png and .pdf from saved files"};
}

void OutputSet::expect(const std::string& path, const std::string& option) {
  if (path.empty()) return;
  try {
    if (is_standard_output(path))
      return expect_once({.name = "standard output"}, path, option);
    const OutputTarget target = output_target(path);
    // Only creating a file in the output's folder shows whether files can be created
    // there.
    if (target.kind == OutputTarget::Kind::file) const StagedFile trial{path, ""};
    if (const auto identity = identity_of(target)) expect_once(*identity, path, option);
  } catch (const InputError& error) {
    throw error.about(option);
  }
  refuse_to_read(path, option);
}

void OutputSet::expect_once(const OutputIdentity& identity, const std::string& path,
                            const std::string& option) {
  for (const Output& other : expected_)
    if (other.identity == identity)
      throw InputError{
          "", path, fmt::format("is the same file as {} '{}'", other.option, other.path),
          "a different file"};
  expected_.push_back({identity, path, option});
}

void OutputSet::add(const std::string& path, std::string_view content) {
  add(path, [&](const TextSink& sink) { sink(content); });
}

void OutputSet::add(const std::string& path, const TextSource& content) {
  if (path.empty()) return;
  if (!is_standard_output(path)) {
    files_.emplace_back(path, content);
    return;
  }
  std::string& text = standard_output_.emplace();
  content([&](std::string_view piece) { text += piece; });
}

void OutputSet::finish(std::string_view text) {
  for (StagedFile& file : files_)
    if (!file.replaces_file()) file.commit();
  for (StagedFile& file : files_)
    if (file.replaces_file()) file.commit();
  print(standard_output_ ? *standard_output_ : text);
}

}  // namespace tilerail::cli
