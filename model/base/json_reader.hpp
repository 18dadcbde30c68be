#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"

namespace tilerail {

/// A JSON value together with its path, for error messages.
class JsonReader {
 public:
  JsonReader(const Json& json, const std::string& file, std::string path)
      : json_{json}, file_{file}, path_{std::move(path)} {}

  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError{"",
                     shown(json_.dump(-1, ' ', false, Json::error_handler_t::replace)),
                     "", expected, where()};
  }

  JsonReader at(const char* key) const {
    if (!json_.is_object()) fail("an object");
    const auto found = json_.find(key);
    if (found == json_.end())
      throw missing("", "it here").at(fmt::format("{}: {}/{}", file_, path(), key));
    return {*found, *this, {key, 0}};
  }
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  size_t size() const {
    if (!json_.is_array()) fail("an array");
    return json_.size();
  }
  JsonReader entry(size_t i) const { return {json_.at(i), *this, {nullptr, i}}; }
  JsonReader sized(size_t count) const {
    if (!json_.is_array() || json_.size() != count)
      fail(fmt::format("an array of {}", count));
    return *this;
  }
  /// Rejects all other keys: a misspelt field must not be ignored.
  void only(std::initializer_list<std::string_view> keys) const {
    only(std::span{keys.begin(), keys.size()});
  }
  void only(std::span<const std::string_view> keys) const {
    if (!json_.is_object()) fail("an object");
    for (const auto& [key, value] : json_.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        throw fault_of("", "unknown field")
            .at(fmt::format("{}: {}/{}", file_, path(), shown(key)));
  }

  int64_t integer(int64_t low, int64_t high) const {
    const bool fits = json_.is_number_unsigned() ? json_.get<uint64_t>() <= uint64_t(high)
                                                 : json_.is_number_integer();
    if (!fits || json_.get<int64_t>() < low || json_.get<int64_t>() > high)
      fail(fmt::format("an integer from {} to {}", low, high));
    return json_.get<int64_t>();
  }
  int32_t index() const { return int32_t(integer(0, (int64_t{1} << 31) - 2)); }
  int64_t extent() const { return integer(0, most_extent); }
  double real() const {
    if (!json_.is_number() || !std::isfinite(json_.get<double>()))
      fail("a finite number");
    return json_.get<double>();
  }
  double not_negative() const {
    if (!(real() >= 0)) fail("a number of at least 0");
    return real();
  }
  double not_negative(double most) const {
    if (!(real() >= 0 && real() <= most))
      fail(fmt::format("a number from 0 to {:g}", most));
    return real();
  }
  bool is_number() const { return json_.is_number(); }
  std::string text() const {
    if (!json_.is_string()) fail("a string");
    return json_.get<std::string>();
  }
  bool boolean() const {
    if (!json_.is_boolean()) fail("true or false");
    return json_.get<bool>();
  }
  template <size_t N>
  size_t one_of(const std::array<std::string_view, N>& names) const {
    std::string expected = "one of";
    if (json_.is_string())
      for (size_t i = 0; i < N; ++i)
        if (json_.get_ref<const std::string&>() == names[i]) return i;
    for (const auto name : names) (expected += ' ') += name;
    fail(expected);
  }
  std::string where() const {
    const std::string at = path();
    return fmt::format("{}: {}", file_, at.empty() ? "/" : at);
  }
  /// Applies `read` to the text and adds the place to its InputErrors.
  template <class Read>
  auto parsed(const Read& read) const {
    try {
      return read(text());
    } catch (const InputError& error) {
      throw error.about("").at(where());
    }
  }

 private:
  static std::string shown(const std::string& text) {
    return text.size() > 60 ? std::string{cut(text, 57)} + "..." : text;
  }

  /// A step on the path from the root: a key, which outlives all readers, or an entry.
  struct Step {
    const char* key;
    size_t entry;
  };

  JsonReader(const Json& json, const JsonReader& parent, Step step)
      : json_{json}, file_{parent.file_}, path_{parent.path_}, steps_{parent.steps_} {
    steps_.push_back(step);
  }

  /// Composed only for errors, because plans have millions of values.
  std::string path() const {
    std::string path = path_;
    for (const Step& step : steps_)
      path += step.key ? fmt::format("/{}", step.key) : fmt::format("/{}", step.entry);
    return path;
  }

  const Json& json_;
  const std::string& file_;
  std::string path_;  // path of the first reader's value
  boost::container::small_vector<Step, 4> steps_;
};

}  // namespace tilerail
