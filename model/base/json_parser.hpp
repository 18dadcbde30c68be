#pragma once

#include <exception>
#include <functional>
#include <istream>
#include <span>
#include <string>
#include <string_view>

#include "model/base/json_reader.hpp"

namespace tilerail {

/// The entries of an array of the root that are read while the text is parsed, and kept
/// by nobody: an array of millions takes no memory.
struct JsonEntries {
  std::string key;
  std::function<void(const JsonReader& entry)> read;
  std::exception_ptr refused =
      {};  // what `read` threw; entries behind that one are not read

  /// Whoever reads the root calls this where the array is due, so that of several errors
  /// the same is told whatever the order of the keys in the text.
  void check() const {
    if (refused) std::rethrow_exception(refused);
  }
};

/// Both throw InputError naming the file and the place of what the parser found, also of
/// a key that an object has twice. In what is returned, arrays of `streamed` are empty.
Json parse_json(std::string_view json, const std::string& file,
                std::span<JsonEntries> streamed = {});
Json parse_json(std::istream& json, const std::string& file,
                std::span<JsonEntries> streamed = {});

}  // namespace tilerail
