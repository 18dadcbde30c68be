#pragma once

#include <exception>
#include <functional>
#include <istream>
#include <span>
#include <string>
#include <string_view>

#include "model/base/json_reader.hpp"

namespace tilerail {

/// Entries of a root array that are read during parsing and not stored: an array of
/// millions needs no memory.
struct JsonEntries {
  std::string key;
  std::function<void(const JsonReader& entry)> read;
  std::exception_ptr refused = {};  // exception of `read`; later entries are not read

  /// Call when the array is due in the order of reading, so that the reported error does
  /// not depend on the order of keys.
  void check() const {
    if (refused) std::rethrow_exception(refused);
  }
};

/// Both throw InputError with the file and the position, also for a duplicate key. In the
/// result, arrays of `streamed` are empty.
Json parse_json(std::string_view json, const std::string& file,
                std::span<JsonEntries> streamed = {});
Json parse_json(std::istream& json, const std::string& file,
                std::span<JsonEntries> streamed = {});

}  // namespace tilerail
