#include "model/base/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tilerail {
namespace {

bool earlier(const toml::source_position& a, const toml::source_position& b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

const char* type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

}  // namespace

std::string TomlPlace::prefix() const { return fmt::format("{}:{}:{}: ", file, position.line, position.column); }

void TomlValue::fail(const std::string& message) const {
  throw InputError{fmt::format("{}{} {} {}", place().prefix(), what_, shown(), message)};
}

std::string TomlValue::shown() const {
  if (const auto* value = node_->as_string()) return in_quotes(value->get());
  if (const auto* value = node_->as_integer()) return fmt::format("'{}'", value->get());
  if (const auto* value = node_->as_floating_point()) return in_quotes(shortest(value->get()));
  if (const auto* value = node_->as_boolean()) return value->get() ? "'true'" : "'false'";
  return fmt::format("({})", type_name(*node_));
}

std::string TomlValue::text() const {
  const auto* value = node_->as_string();
  if (!value) fail("is not a text; expected one in quotes");
  return value->get();
}

bool TomlValue::boolean() const {
  const auto* value = node_->as_boolean();
  if (!value) fail("is not a boolean; expected true or false");
  return value->get();
}

double TomlValue::number(const Range<double>& range) const {
  const auto value = node_->is_number() ? node_->value<double>() : std::nullopt;
  if (!value) fail("is not a number; expected one without quotes");
  if (!std::isfinite(*value)) fail("is not finite; expected a finite number");
  if (!range.holds(*value)) fail(std::string{"is out of range; expected "} + range.text);
  return *value;
}

std::int64_t TomlValue::integer(std::int64_t least, std::int64_t most) const {
  const auto* value = node_->as_integer();
  if (!value) fail("is not an integer; expected one without quotes");
  if (value->get() < least || value->get() > most) fail(fmt::format("is out of range; expected {} to {}", least, most));
  return value->get();
}

std::vector<TomlValue> TomlValue::list(std::size_t most) const {
  const auto* values = node_->as_array();
  if (!values) fail("is not a list; expected one in brackets");
  if (values->size() > most) fail(fmt::format("has {} entries; expected at most {}", values->size(), most));
  std::vector<TomlValue> result;
  for (const toml::node& value : *values) result.emplace_back(value, *file_, what_);
  return result;
}

std::vector<TomlValue> TomlValue::pair() const {
  auto values = list(2);
  if (values.size() != 2) fail(fmt::format("has {} entries; expected two", values.size()));
  return values;
}

std::vector<TomlTable> TomlValue::tables(std::string_view each) const {
  const auto* values = node_->as_array();
  if (!values) fail(fmt::format("is not a list of tables; expected [[{}]]", each));
  std::vector<TomlTable> result;
  for (const toml::node& value : *values) {
    if (!value.is_table()) TomlValue{value, *file_, what_}.fail(fmt::format("is not a table; expected [[{}]]", each));
    result.emplace_back(*value.as_table(), *file_, std::string{each});
  }
  return result;
}

TomlTable TomlValue::table() const {
  const auto* value = node_->as_table();
  if (!value) fail("is not a table; expected one");
  return {*value, *file_, what_};
}

template <class Q>
Q TomlValue::quantity(Q (*parse)(std::string_view), const Range<Q>& range) const {
  if (!node_->is_string()) fail(fmt::format("is not a text with a unit; expected {}, in quotes", range.text));
  const std::string written = text();
  Q value;
  try {
    value = parse(written);
  } catch (const InputError& error) {
    throw InputError{fmt::format("{}{} {}", place().prefix(), what_, error.what())};
  }
  if (!range.holds(value)) fail(std::string{"is out of range; expected "} + range.text);
  return value;
}

Bytes TomlValue::bytes(const Range<Bytes>& range) const { return quantity(parse_bytes, range); }
Seconds TomlValue::seconds(const Range<Seconds>& range) const { return quantity(parse_seconds, range); }
Rate TomlValue::rate(const Range<Rate>& range) const { return quantity(parse_rate, range); }
FlopRate TomlValue::flop_rate(const Range<FlopRate>& range) const { return quantity(parse_flop_rate, range); }
Watts TomlValue::watts(const Range<Watts>& range) const { return quantity(parse_watts, range); }

std::string TomlTable::named(std::string_view key) const {
  return what_.empty() ? std::string{key} : what_ + ": " + std::string{key};
}

void TomlTable::fail(const std::string& message) const {
  throw InputError{place().prefix() + (what_.empty() ? "" : what_ + ": ") + message};
}

void TomlTable::allow_only(std::initializer_list<std::string_view> keys) const {
  const toml::key* first = nullptr;
  for (const auto& [key, node] : *table_) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    if (!first || earlier(key.source().begin, first->source().begin)) first = &key;
  }
  if (!first) return;
  std::string expected;
  for (std::string_view key : keys) expected += (expected.empty() ? "" : ", ") + std::string{key};
  throw InputError{fmt::format("{}{}unknown key {}; expected one of {}",
                               TomlPlace{*file_, first->source().begin}.prefix(), what_.empty() ? "" : what_ + ": ",
                               in_quotes(first->str()), expected)};
}

std::optional<TomlValue> TomlTable::find(std::string_view key) const {
  const toml::node* node = table_->get(key);
  if (!node) return std::nullopt;
  return TomlValue{*node, *file_, named(key)};
}

TomlValue TomlTable::need(std::string_view key) const {
  if (auto value = find(key)) return *value;
  fail(fmt::format("key '{}' is missing; expected it here", key));
}

std::vector<std::pair<std::string, TomlValue>> TomlTable::all() const {
  std::vector<std::pair<std::string, TomlValue>> result;
  for (const auto& [key, node] : *table_)
    result.emplace_back(std::string{key.str()}, TomlValue{node, *file_, named(key.str())});
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return earlier(a.second.place().position, b.second.place().position); });
  return result;
}

}  // namespace tilerail
