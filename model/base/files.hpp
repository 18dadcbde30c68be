#pragma once

#include <ext/stdio_filebuf.h>

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "model/base/output_target.hpp"

namespace tilerail {

/// The whole file. Throws InputError naming the path and the reason.
std::string read_file(const std::string& path);

/// A file that is read piece by piece. Both throw what read_file() throws.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  /// Only its buffer throws: std::istream itself would keep the error to itself.
  std::istream& stream() { return stream_; }

 private:
  __gnu_cxx::stdio_filebuf<char> buffer_;
  std::istream stream_;
};

/// Hands a text to whoever takes it, piece by piece: no text of gigabytes is ever whole.
using TextSink = std::function<void(std::string_view piece)>;
using TextSource = std::function<void(const TextSink& sink)>;

/// From now on, reading refuses the file that is at `path`, if there is one, because it
/// is going to be replaced. `what` names it in the error. To be called before there are
/// other threads.
void refuse_to_read(const std::string& path, const std::string& what);

/// Throws InputError for a file that is refused: for files that other programs read.
void check_to_be_read(const std::string& path);

struct StagedName;  // of a file that is not yet at its place

/// New content of a file, which takes the place of the old as a whole or not at all. It
/// is written under a hidden name next to its place, with the same extension, and moved
/// there by commit(). A symbolic link stays one: its target is replaced, or created. A
/// file that is replaced keeps its mode. Devices, pipes and descriptors of this process,
/// which no file can replace, are written in place by commit(). Every member that writes
/// throws InputError naming the path and the reason.
class StagedFile {
 public:
  StagedFile(const std::string& path, std::string_view content);
  StagedFile(const std::string& path, const TextSource& content);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  /// Removes what was not committed.
  ~StagedFile();

  /// Where the content waits; "" for what is written in place, and after commit().
  std::string staged() const;
  /// Whether commit() moves a file, instead of writing in place.
  bool replaces_file() const { return target_.kind == OutputTarget::Kind::file; }
  void commit();

 private:
  std::string path_;
  OutputTarget target_;
  StagedName* name_ = nullptr;  // none for what is written in place, and after commit()
  std::string content_;         // of what is written in place
};

/// Removes what this process has staged and not committed. A signal handler may call it.
void discard_staged_files() noexcept;

}  // namespace tilerail
