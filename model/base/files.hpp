#pragma once

#include <ext/stdio_filebuf.h>

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "model/base/output_target.hpp"

namespace tilerail {

/// Reads the whole file. Throws InputError with the path and the reason.
std::string read_file(const std::string& path);

/// A file that is read piece by piece. Both members throw the same errors as read_file().
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  /// Errors are thrown by the buffer, because std::istream would swallow them.
  std::istream& stream() { return stream_; }

 private:
  __gnu_cxx::stdio_filebuf<char> buffer_;
  std::istream stream_;
};

/// Passes a text on piece by piece, so that gigabytes of text are never in memory as a
/// whole.
using TextSink = std::function<void(std::string_view piece)>;
using TextSource = std::function<void(const TextSink& sink)>;

/// Makes later reads of the file at `path`, if it exists, fail, because the file will be
/// replaced. Errors are about `subject`. Call before other threads start.
void refuse_to_read(const std::string& path, const std::string& subject);

struct StagedName;  // name of a file that is not yet in its place

/// New content of a file, atomic: it replaces the old content completely or not at all.
/// It is written to a hidden file in the same folder, with the same extension, and moved
/// by commit(). A symbolic link is kept; its target is replaced or created. A replaced
/// file keeps its mode. Devices, pipes and descriptors of this process cannot be
/// replaced; commit() writes them in place. Every member that writes throws InputError
/// with the path and the reason.
class StagedFile {
 public:
  StagedFile(const std::string& path, std::string_view content);
  StagedFile(const std::string& path, const TextSource& content);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  /// Removes uncommitted content.
  ~StagedFile();

  /// The hidden file with the content; "" for in-place targets and after commit().
  std::string staged() const;
  /// Whether commit() moves a file instead of writing in place.
  bool replaces_file() const { return target_.kind == OutputTarget::Kind::file; }
  void commit();

 private:
  std::string path_;
  OutputTarget target_;
  StagedName* name_ = nullptr;  // null for in-place targets and after commit()
  std::string content_;         // for in-place targets
};

/// Removes the staged, uncommitted files of this process. Safe in signal handlers.
void discard_staged_files() noexcept;

}  // namespace tilerail
