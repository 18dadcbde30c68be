#include "model/base/json_reader.hpp"

#include <set>
#include <vector>

namespace tilerail {
namespace {

/// Looks for equal keys, of which the library would keep the last without a word. Builds nothing: the callback of
/// Json::parse would do, too, but with one the library searches a whole array at the end of each object in it.
class DuplicateKeys final : public nlohmann::json_sax<Json> {
 public:
  explicit DuplicateKeys(const std::string& file) : file_{file} {}

  bool null() override { return begin_value(); }
  bool boolean(bool) override { return begin_value(); }
  bool number_integer(Json::number_integer_t) override { return begin_value(); }
  bool number_unsigned(Json::number_unsigned_t) override { return begin_value(); }
  bool number_float(Json::number_float_t, const std::string&) override { return begin_value(); }
  bool string(std::string&) override { return begin_value(); }
  bool binary(Json::binary_t&) override { return begin_value(); }

  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    Open& object = open_.back();
    if (!object.keys.insert(key).second)
      throw InputError{fmt::format("{}: {}/{}: the key is there twice; expected it once", file_, path(), key)};
    object.key = key;
    return true;
  }

  /// Stops. What is wrong says Json::parse.
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  /// An object or array that is not complete yet.
  struct Open {
    bool is_array = false;
    std::size_t entries = 0;     // of an array
    std::set<std::string> keys;  // of an object
    std::string key;             // its newest
  };

  bool begin_value() {
    if (!open_.empty() && open_.back().is_array) ++open_.back().entries;
    return true;
  }

  bool open(bool is_array) {
    begin_value();
    open_.push_back({is_array, 0, {}, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// Of the innermost object.
  std::string path() const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i)
      path += open_[i].is_array ? fmt::format("/{}", open_[i].entries - 1) : fmt::format("/{}", open_[i].key);
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
    Json::sax_parse(json, &duplicates);
    return Json::parse(json);
  } catch (const Json::exception& error) {
    throw InputError{message(file, error.what())};
  }
}

}  // namespace tilerail
