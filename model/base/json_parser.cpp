#include "model/base/json_parser.hpp"

#include <iterator>
#include <utility>
#include <vector>

namespace tilerail {
namespace {

constexpr size_t most_depth = 100;  // files of this project nest less than ten

/// Position of the parser in the text.
struct Place {
  size_t line = 1, column = 0;
  bool has_ended = false;  // at a zero byte, where the library stops reading
};

/// Iterates over characters and tracks their position, which the library does not report
/// while it builds values.
template <class Iterator>
class PlaceIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  PlaceIterator(Iterator next, Place& place) : next_{next}, place_{&place} {}
  char operator*() const { return *next_; }
  bool operator==(const PlaceIterator& other) const { return next_ == other.next_; }
  PlaceIterator& operator++() {
    ++place_->column;
    if (*next_ == '\n') place_->column = 0, ++place_->line;
    if (*next_ == '\0') place_->has_ended = true;
    ++next_;
    return *this;
  }

 private:
  Iterator next_;
  Place* place_;
};

/// Shortened for error messages.
std::string shown(std::string_view text) {
  constexpr size_t most = 240;
  return shortened(text, most);
}

/// Builds values like Json::parse, rejects duplicate keys (the library silently keeps the
/// last), and passes on streamed entries. (The callback of Json::parse is too slow: the
/// library searches a whole array at the end of each object in it.)
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(const std::string& file, const Place& place, std::span<JsonEntries> streamed)
      : file_{file}, place_{place}, streamed_{streamed} {}

  Json root;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(Json::number_integer_t value) override { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) override { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) override {
    return add(value);
  }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& value) override { return add(std::move(value)); }

  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    Json& object = *open_.back().value;
    if (object.contains(key))
      throw given_twice("").at(fmt::format("{}: {}/{}", file_, path(), shown(key)));
    object[key] = nullptr;
    return true;
  }

  bool parse_error(size_t, const std::string&, const Json::exception& error) override {
    error_ = error.what();
    return false;
  }

  /// The library's error for a text that is not JSON; else "".
  const std::string& error() const { return error_; }

 private:
  /// An incomplete object or array.
  struct Container {
    Json* value;
    size_t entries = 0;         // of an array
    JsonEntries* to = nullptr;  // if its entries are streamed
  };

  bool add(Json value) {
    place(std::move(value));
    hand_over();
    return true;
  }

  bool open(Json value) {
    if (open_.size() == most_depth)
      throw fault_of("", "arrays and objects are nested too deep",
                     fmt::format("at most {} levels", most_depth))
          .at(fmt::format("{}:{}:{}", file_, place_.line, place_.column));
    const bool of_root = open_.size() == 1 && !open_.back().value->is_array();
    JsonEntries* const to = of_root && value.is_array()
                                ? streamed_at(newest_key(*open_.back().value))
                                : nullptr;
    open_.push_back({&place(std::move(value)), 0, to});
    return true;
  }

  bool close() {
    open_.pop_back();
    hand_over();
    return true;
  }

  /// Appends a value to an array, or sets the value of the newest key of an object.
  Json& place(Json value) {
    if (open_.empty()) return root = std::move(value);
    Container& parent = open_.back();
    if (!parent.value->is_array())
      return std::prev(parent.value->end()).value() = std::move(value);
    ++parent.entries;
    if (parent.to) return entry_ = std::move(value);
    parent.value->push_back(std::move(value));
    return parent.value->back();
  }

  /// Passes on a complete entry of a streamed array.
  void hand_over() {
    if (open_.empty() || !open_.back().to || open_.back().to->refused) return;
    JsonEntries& to = *open_.back().to;
    try {
      to.read({entry_, file_, fmt::format("/{}/{}", to.key, open_.back().entries - 1)});
    } catch (const InputError&) {
      to.refused = std::current_exception();
    }
  }

  JsonEntries* streamed_at(const std::string& key) {
    for (JsonEntries& each : streamed_)
      if (each.key == key) return &each;
    return nullptr;
  }

  static std::string newest_key(const Json& object) {
    return std::prev(object.end()).key();
  }

  /// The JSON path of the innermost object.
  std::string path() const {
    std::string path;
    for (size_t i = 0; i + 1 < open_.size(); ++i)
      path += open_[i].value->is_array()
                  ? fmt::format("/{}", open_[i].entries - 1)
                  : fmt::format("/{}", shown(newest_key(*open_[i].value)));
    return path;
  }

  const std::string& file_;
  const Place& place_;
  std::span<JsonEntries> streamed_;
  std::vector<Container> open_;
  Json entry_;  // newest entry of a streamed array
  std::string error_;
};

/// Converts the library's message "[json.exception.parse_error.101] parse error at line
/// 3, column 14: syntax error ..." to "plan.json:3:14: not JSON: syntax error ...". Some
/// errors have no position.
InputError not_json(const std::string& file, const Place& read, std::string_view text) {
  constexpr std::string_view at_line = "parse error at line ", at_column = ", column ";
  if (const size_t name = text.find("] "); name != text.npos)
    text.remove_prefix(name + 2);
  const size_t column = text.find(at_column), end = text.find(": ");
  if (!text.starts_with(at_line) || column == text.npos || end == text.npos)
    return fault_of("not JSON", shown(text))
        .at(fmt::format("{}:{}:{}", file, read.line, read.column));
  const std::string_view line = text.substr(at_line.size(), column - at_line.size());
  const size_t number = column + at_column.size();
  return fault_of("not JSON", shown(text.substr(end + 2)))
      .at(fmt::format("{}:{}:{}", file, line, text.substr(number, end - number)));
}

template <class Iterator>
Json parse(Iterator begin, Iterator end, const std::string& file,
           std::span<JsonEntries> streamed) {
  Place place;
  Builder builder{file, place, streamed};
  if (!Json::sax_parse(PlaceIterator{begin, place}, PlaceIterator{end, place}, &builder))
    throw not_json(file, place, builder.error());
  if (place.has_ended)
    throw fault_of("", "a zero byte", "text")
        .at(fmt::format("{}:{}:{}", file, place.line, place.column));
  return std::move(builder.root);
}

}  // namespace

Json parse_json(std::string_view json, const std::string& file,
                std::span<JsonEntries> streamed) {
  return parse(json.begin(), json.end(), file, streamed);
}

Json parse_json(std::istream& json, const std::string& file,
                std::span<JsonEntries> streamed) {
  using Letters = std::istreambuf_iterator<char>;
  return parse(Letters{json}, Letters{}, file, streamed);
}

}  // namespace tilerail
