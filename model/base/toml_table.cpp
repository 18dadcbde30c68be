#include "model/base/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilerail {
namespace {

bool earlier(const toml::source_position& a, const toml::source_position& b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

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

std::string TomlPlace::text() const {
  return position.line == 0 ? file : fmt::format("{}:{}:{}", file, position.line, position.column);
}

void TomlFile::report(const toml::source_position& position, const std::string& message) const {
  const TomlError error{{name, position}, message};
  if (!errors) throw TomlFailure{error};
  errors->push_back(error);
}

TomlValue TomlValue::missing(const TomlFile& file) {
  static const toml::value<std::string> nothing{""};
  TomlValue value{nothing, file, ""};
  value.reported_ = true;
  return value;
}

void TomlValue::report(const std::string& message) const {
  if (!reported_) file_->report(node_->source().begin, fmt::format("{} {} {}", what_, shown(), message));
  reported_ = true;
}

void TomlValue::fail(const std::string& message) const {
  if (reported_) throw TomlConsequence{};
  throw TomlFailure{{place(), fmt::format("{} {} {}", what_, shown(), message)}};
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
  if (value) return value->get();
  report("is not a text; expected one in quotes");
  return "";
}

bool TomlValue::boolean() const {
  const auto* value = node_->as_boolean();
  if (!value) report("is not a boolean; expected true or false");
  return value && value->get();
}

double TomlValue::number(const Range<double>& range) const {
  const auto value = node_->is_number() ? node_->value<double>() : std::nullopt;
  if (!value) return report("is not a number; expected one without quotes"), no_number;
  if (!std::isfinite(*value)) return report("is not finite; expected a finite number"), no_number;
  if (!range.holds(*value)) return report(std::string{"is out of range; expected "} + range.text), no_number;
  return *value;
}

std::int64_t TomlValue::integer(std::int64_t least, std::int64_t most) const {
  const auto* value = node_->as_integer();
  if (!value) return report("is not an integer; expected one without quotes"), least;
  if (value->get() < least || value->get() > most)
    return report(fmt::format("is out of range; expected {} to {}", least, most)), least;
  return value->get();
}

std::vector<TomlValue> TomlValue::list(std::size_t most) const {
  const auto* values = node_->as_array();
  if (!values) return report("is not a list; expected one in brackets"), std::vector<TomlValue>{};
  if (values->size() > most)
    return report(fmt::format("has {} entries; expected at most {}", values->size(), most)), std::vector<TomlValue>{};
  std::vector<TomlValue> result;
  for (const toml::node& value : *values) result.emplace_back(value, *file_, what_);
  return result;
}

std::vector<TomlValue> TomlValue::pair() const {
  auto values = list(2);
  if (values.size() == 2) return values;
  report(fmt::format("has {} entries; expected two", values.size()));
  return {missing(*file_), missing(*file_)};
}

std::vector<TomlTable> TomlValue::tables(std::string_view each) const {
  const auto* values = node_->as_array();
  if (!values) return report(fmt::format("is not a list of tables; expected [[{}]]", each)), std::vector<TomlTable>{};
  std::vector<TomlTable> result;
  for (const toml::node& value : *values) {
    if (value.is_table())
      result.emplace_back(*value.as_table(), *file_, std::string{each});
    else
      TomlValue{value, *file_, what_}.report(fmt::format("is not a table; expected [[{}]]", each));
  }
  return result;
}

TomlTable TomlValue::table() const {
  const auto* value = node_->as_table();
  if (!value) fail("is not a table; expected one");
  return {*value, *file_, what_};
}

template <class Q>
Q TomlValue::quantity(Q (*parse)(std::string_view, std::string_view), const Range<Q>& range) const {
  if (reported_) return Q{no_number};
  if (!node_->is_string())
    return report(fmt::format("is not a text with a unit; expected {}, in quotes", range.text)), Q{no_number};
  Q value{no_number};
  try {
    value = parse(text(), "");
  } catch (const InputError& error) {
    file_->report(node_->source().begin, fmt::format("{} {}", what_, error.what()));
    reported_ = true;
    return value;
  }
  if (!range.holds(value)) report(std::string{"is out of range; expected "} + range.text);
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

void TomlTable::report(const std::string& message) const {
  file_->report(table_->source().begin, (what_.empty() ? "" : what_ + ": ") + message);
}

void TomlTable::fail(const std::string& message) const {
  throw TomlFailure{{place(), (what_.empty() ? "" : what_ + ": ") + message}};
}

void TomlTable::allow_only(std::initializer_list<std::string_view> keys) const {
  std::vector<const toml::key*> others;
  for (const auto& [key, node] : *table_)
    if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) others.push_back(&key);
  std::sort(others.begin(), others.end(),
            [](const auto* a, const auto* b) { return earlier(a->source().begin, b->source().begin); });
  std::string expected;
  for (std::string_view key : keys) expected += (expected.empty() ? "" : ", ") + std::string{key};
  for (const toml::key* key : others)
    file_->report(key->source().begin, fmt::format("{}unknown key {}; expected one of {}",
                                                   what_.empty() ? "" : what_ + ": ", in_quotes(key->str()), expected));
}

std::optional<TomlValue> TomlTable::find(std::string_view key) const {
  const toml::node* node = table_->get(key);
  if (!node) return std::nullopt;
  return TomlValue{*node, *file_, named(key)};
}

TomlValue TomlTable::need(std::string_view key) const {
  if (auto value = find(key)) return *value;
  report(fmt::format("key '{}' is missing; expected it here", key));
  return TomlValue::missing(*file_);
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
