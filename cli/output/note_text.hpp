#pragma once

#include <string>

namespace tilerail::cli {

/// A line before the tables of a command; "" for an empty note.
inline std::string note_text(const std::string& note) {
  return note.empty() ? "" : "note: " + note + "\n";
}

}  // namespace tilerail::cli
