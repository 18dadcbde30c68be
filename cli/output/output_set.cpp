#include "cli/output/output_set.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "cli/output/standard_output.hpp"
#include "model/base/error.hpp"

namespace tilerail::cli {
namespace {

bool is_standard_output(const std::string& path) { return path == "-" || output_target(path).is_standard_output(); }

/// Where the text of the command and its errors go: a file that takes their place would lose them.
void refuse_redirected(const OutputIdentity& identity, const std::string& path) {
  for (const auto& [descriptor, name] :
       std::array{std::pair{STDOUT_FILENO, "standard output"}, std::pair{STDERR_FILENO, "standard error"}})
    if (identity_of_descriptor(descriptor) == identity)
      throw InputError{"", path, fmt::format("is the file that {} is redirected to", name), "a different file"};
}

/// Creates a file in the folder of the output and removes it: only this shows whether files can be created there.
void try_to_stage(const std::string& path) { const StagedFile trial{path, ""}; }

/// While it lives, a reader of stdout that has gone does not end the program: it does so afterwards.
class LaterPipeSignal {
 public:
  LaterPipeSignal() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  ~LaterPipeSignal() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  /// Whether it will.
  bool is_due() const {
    struct sigaction action {};
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1 && sigaction(SIGPIPE, nullptr, &action) == 0 &&
           action.sa_handler != SIG_IGN;
  }
  LaterPipeSignal(const LaterPipeSignal&) = delete;
  LaterPipeSignal& operator=(const LaterPipeSignal&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void OutputSet::expect(const std::string& path, const std::string& option) {
  if (path.empty()) return;
  try {
    if (is_standard_output(path)) return expect_standard_output(path, option);
    const OutputTarget target = output_target(path);
    const auto identity = identity_of(target);
    if (target.kind == OutputTarget::Kind::file) {
      refuse_redirected(*identity, path);
      try_to_stage(path);
    }
    expect_once(identity, path, option);
  } catch (const InputError& error) {
    throw error.about(option);
  }
  refuse_to_read(path, fmt::format("{}: '{}'", option, path));
}

void OutputSet::expect_standard_output(const std::string& path, const std::string& option) {
  expect_once(OutputIdentity{.name = "standard output"}, path, option);
  expect_once(identity_of_descriptor(STDOUT_FILENO), path, option);
}

void OutputSet::expect_once(const std::optional<OutputIdentity>& identity, const std::string& path,
                            const std::string& option) {
  if (!identity) return;
  for (const Expected& other : expected_)
    if (other.identity == *identity)
      throw InputError{"", path, fmt::format("is the same file as {} '{}'", other.option, other.path),
                       "a different file"};
  expected_.push_back({*identity, path, option});
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
  const LaterPipeSignal later;
  for (StagedFile& file : files_)
    if (!file.replaces_file()) file.commit();
  try {
    print(standard_output_ ? *standard_output_ : text);
  } catch (const InputError&) {
    if (!later.is_due()) throw;  // else a reader such as 'head' has all that it wants
  }
  for (StagedFile& file : files_)
    if (file.replaces_file()) file.commit();
}

}  // namespace tilerail::cli
