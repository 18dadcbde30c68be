#include "model/base/toml_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/nearest.hpp"

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

void TomlValue::report_type(std::string_view is_not, std::string_view expected) const {
  report(fmt::format("is not {}; expected {}", is_not, expected));
}

void TomlValue::report_range(std::string_view expected) const { report(out_of_range(expected)); }

std::string TomlValue::text() const {
  const auto* value = node_->as_string();
  if (!value) report_type("a text", "one in quotes");
  return value ? value->get() : "";
}

std::size_t TomlValue::one_of(std::span<const std::string_view> names) const {
  const auto known = std::ranges::find(names, text());
  if (known != names.end()) return static_cast<std::size_t>(known - names.begin());
  report(fmt::format("is unknown; expected {} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back()));
  return 0;
}

bool TomlValue::boolean() const {
  const auto* value = node_->as_boolean();
  if (!value) report_type("a boolean", "true or false");
  return value && value->get();
}

double TomlValue::in(const Range<double>& range) const {
  const double value = node_->is_number() ? *node_->value<double>() : no_number;
  if (!node_->is_number())
    report_type("a number", "one without quotes");
  else if (!std::isfinite(value))
    report_type("finite", "a finite number");
  else if (!range.holds(value))
    report_range(range.text);
  return range.holds(value) ? value : no_number;
}

std::int64_t TomlValue::integer(std::int64_t least, std::int64_t most) const {
  const auto* value = node_->as_integer();
  if (!value)
    report_type("an integer", "one without quotes");
  else if (value->get() < least || value->get() > most)
    report_range(fmt::format("{} to {}", least, most));
  else
    return value->get();
  return least;
}

std::vector<TomlValue> TomlValue::list(std::size_t most) const {
  std::vector<TomlValue> result;
  const auto* values = node_->as_array();
  if (!values)
    report_type("a list", "one in brackets");
  else if (values->size() > most)
    report(fmt::format("has {} entries; expected at most {}", values->size(), most));
  else
    for (const toml::node& value : *values) result.emplace_back(value, *file_, what_);
  return result;
}

std::vector<TomlTable> TomlValue::tables(std::string_view each) const {
  std::vector<TomlTable> result;
  const std::string expected = fmt::format("[[{}]]", each);
  const auto* values = node_->as_array();
  if (!values) {
    report_type("a list of tables", expected);
    return result;
  }
  for (const toml::node& value : *values) {
    if (value.is_table())
      result.emplace_back(*value.as_table(), *file_, std::string{each});
    else
      TomlValue{value, *file_, what_}.report_type("a table", expected);
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
  Q value{no_number};
  if (!node_->is_string()) {
    report_type("a text with a unit", std::string{range.text} + ", in quotes");
    return value;
  }
  try {
    value = parse(text(), "");
  } catch (const InputError& error) {
    if (!reported_) file_->report(node_->source().begin, fmt::format("{} {}", what_, error.what()));
    reported_ = true;
    return value;
  }
  if (!range.holds(value)) report_range(range.text);
  return value;
}

Bytes TomlValue::in(const Range<Bytes>& range) const { return quantity(parse_bytes, range); }
Seconds TomlValue::in(const Range<Seconds>& range) const { return quantity(parse_seconds, range); }
Rate TomlValue::in(const Range<Rate>& range) const { return quantity(parse_rate, range); }
FlopRate TomlValue::in(const Range<FlopRate>& range) const { return quantity(parse_flop_rate, range); }
Watts TomlValue::in(const Range<Watts>& range) const { return quantity(parse_watts, range); }

std::string TomlTable::named(std::string_view key) const {
  return what_.empty() ? std::string{key} : what_ + ": " + std::string{key};
}

void TomlTable::report(const std::string& message) const { file_->report(table_->source().begin, named(message)); }

void TomlTable::fail(const std::string& message) const { throw TomlFailure{{place(), named(message)}}; }

void TomlTable::allow_only(const std::vector<std::string>& keys) const {
  std::vector<const toml::key*> others;
  for (const auto& [key, node] : *table_)
    if (std::ranges::find(keys, key.str()) == keys.end()) others.push_back(&key);
  std::ranges::sort(others, earlier, [](const auto* key) { return key->source().begin; });
  for (const toml::key* key : others) file_->report(key->source().begin, named(unknown_key(key->str(), keys)));
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
