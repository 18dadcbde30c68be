#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tilerail {

/// The file, device or descriptor of an output path after following symbolic links. It
/// need not exist.
struct OutputTarget {
  enum class Kind {
    file,       // a regular file, existing or not: replaced by a new file
    device,     // a device, a pipe or a socket: written in place
    descriptor  // a descriptor of this process, such as /dev/stdout or /dev/fd/3
  };
  Kind kind = Kind::file;
  std::filesystem::path place;  // the path without links; the folder of a file exists
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

/// None for /dev/null, which any number of outputs may share, and for a closed
/// descriptor.
std::optional<OutputIdentity> identity_of(const OutputTarget& target);
std::optional<OutputIdentity> identity_of_descriptor(int descriptor);

}  // namespace tilerail
