#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tilerail {

/// The file, device or descriptor that an output path names after symbolic links, whether
/// it exists or not.
struct OutputTarget {
  enum class Kind {
    file,       // a regular file, or none yet: a new file replaces it
    device,     // a device, a pipe or a socket: written in place
    descriptor  // a descriptor of this process, such as /dev/stdout or /dev/fd/3: written
                // to it
  };
  Kind kind = Kind::file;
  std::filesystem::path
      place;  // the path without links; of a file in a folder that exists
  int descriptor = -1;

  bool is_standard_output() const { return kind == Kind::descriptor && descriptor == 1; }
};

/// Throws InputError "'PATH' cannot be written: ..." for a folder, for a link into a
/// folder that does not exist, and for links that form a loop.
OutputTarget output_target(const std::string& path);

/// Paths that name the same file, device or pipe have the same identity. A file that does
/// not exist yet is identified by its folder and its name there.
struct OutputIdentity {
  uint64_t device = 0, number = 0;
  std::string name = {};
  auto operator<=>(const OutputIdentity&) const = default;
};

/// Nothing for /dev/null, which any number of outputs can be written to, and for a
/// descriptor that is closed.
std::optional<OutputIdentity> identity_of(const OutputTarget& target);
std::optional<OutputIdentity> identity_of_descriptor(int descriptor);

}  // namespace tilerail
