#include "model/base/json_reader.hpp"

#include <vector>

namespace tilerail {
namespace {

/// Watches a parser, which would keep the last of equal keys without a word.
class DuplicateKeys {
 public:
  explicit DuplicateKeys(const std::string& file) : file_{file} {}

  void on(Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::key:
        return add(parsed.get_ref<const std::string&>());
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        begin_value();
        return open_.push_back({event == Json::parse_event_t::array_start, 0, {}});
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        return open_.pop_back();
      case Json::parse_event_t::value:
        return begin_value();
    }
  }

 private:
  /// An object or array that is not complete yet.
  struct Open {
    bool is_array = false;
    std::size_t entries = 0;        // of an array
    std::vector<std::string> keys;  // of an object; a few
  };

  void begin_value() {
    if (!open_.empty() && open_.back().is_array) ++open_.back().entries;
  }

  void add(const std::string& key) {
    auto& keys = open_.back().keys;
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      throw InputError{fmt::format("{}: {}/{}: the key is there twice; expected it once", file_, path(), key)};
    keys.push_back(key);
  }

  /// Of the innermost object.
  std::string path() const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i)
      path += open_[i].is_array ? fmt::format("/{}", open_[i].entries - 1) : fmt::format("/{}", open_[i].keys.back());
    return path;
  }

  const std::string& file_;
  std::vector<Open> open_;
};

/// "plan.json:3:14: not JSON: syntax error ...", of what the library says behind its own name:
/// "[json.exception.parse_error.101] parse error at line 3, column 14: syntax error ...".
std::string message(const std::string& file, std::string_view text) {
  constexpr std::string_view at_line = "parse error at line ", at_column = ", column ";
  if (const std::size_t name = text.find("] "); name != text.npos) text.remove_prefix(name + 2);
  const std::size_t column = text.find(at_column), end = text.find(": ");
  if (!text.starts_with(at_line) || column == text.npos || end == text.npos)
    return fmt::format("{}: not JSON: {}", file, text);
  const std::string_view line = text.substr(at_line.size(), column - at_line.size());
  const std::size_t number = column + at_column.size();
  return fmt::format("{}:{}:{}: not JSON: {}", file, line, text.substr(number, end - number), text.substr(end + 2));
}

}  // namespace

Json parse_json(std::string_view json, const std::string& file) {
  DuplicateKeys duplicates{file};
  try {
    return Json::parse(json, [&](int, Json::parse_event_t event, const Json& parsed) {
      duplicates.on(event, parsed);
      return true;
    });
  } catch (const Json::exception& error) {
    throw InputError{message(file, error.what())};
  }
}

}  // namespace tilerail
