#include "model/base/toml_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tilerail {
std::string toml_place(const std::string& file, const toml::source_position& position) {
  return position.line == 0
             ? file
             : fmt::format("{}:{}:{}", file, position.line, position.column);
}

void TomlValue::fail(const std::string& message) const {
  throw InputError{fmt::format("{} {} {}", what_, shown(), message)}.at(place());
}

std::string TomlValue::shown() const {
  if (const auto* value = node_->as_string()) return in_quotes(value->get());
  if (const auto* value = node_->as_integer()) return fmt::format("'{}'", value->get());
  if (const auto* value = node_->as_floating_point())
    return in_quotes(shortest(value->get()));
  if (const auto* value = node_->as_boolean()) return value->get() ? "'true'" : "'false'";
  if (is_table()) return "(a table)";
  return is_list() ? "(a list)" : "(a date or time)";
}

void TomlValue::fail_type(std::string_view is_not, std::string_view expected) const {
  fail(fmt::format("is not {}; expected {}", is_not, expected));
}

std::string TomlValue::text() const {
  if (const auto* value = node_->as_string()) return value->get();
  fail_type("a text", "one in quotes");
}

size_t TomlValue::one_of(std::span<const std::string_view> names) const {
  const auto known = std::ranges::find(names, text());
  if (known != names.end()) return size_t(known - names.begin());
  fail(fmt::format("is unknown; expected {} or {}",
                   fmt::join(names.first(names.size() - 1), ", "), names.back()));
}

bool TomlValue::boolean() const {
  if (const auto* value = node_->as_boolean()) return value->get();
  fail_type("a boolean", "true or false");
}

double TomlValue::in(const Range<double>& range) const {
  const auto value = node_->value<double>();
  if (!node_->is_number()) fail_type("a number", "one without quotes");
  if (!std::isfinite(*value)) fail_type("finite", "a finite number");
  if (!range.holds(*value)) fail(out_of_range(range.text));
  return *value;
}

int64_t TomlValue::integer(int64_t least, int64_t most) const {
  const auto* value = node_->as_integer();
  if (!value) fail_type("an integer", "one without quotes");
  if (value->get() < least || value->get() > most)
    fail(out_of_range(fmt::format("{} to {}", least, most)));
  return value->get();
}

std::vector<TomlValue> TomlValue::list(size_t most) const {
  const auto* values = node_->as_array();
  if (!values) fail_type("a list", "one in brackets");
  if (values->size() > most)
    fail(fmt::format("has {} entries; expected at most {}", values->size(), most));
  std::vector<TomlValue> result;
  for (const toml::node& value : *values) result.emplace_back(value, *file_, what_);
  return result;
}

std::vector<TomlTable> TomlValue::tables(std::string_view each) const {
  const std::string expected = fmt::format("[[{}]]", each);
  const auto* values = node_->as_array();
  if (!values) fail_type("a list of tables", expected);
  std::vector<TomlTable> result;
  for (const toml::node& value : *values) {
    if (!value.is_table()) TomlValue{value, *file_, what_}.fail_type("a table", expected);
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
Q TomlValue::quantity(Q (*parse)(std::string_view, std::string_view),
                      const Range<Q>& range) const {
  if (!node_->is_string())
    fail_type("a text with a unit", std::string{range.text} + ", in quotes");
  try {
    if (const Q value = parse(text(), ""); range.holds(value)) return value;
  } catch (const InputError& error) {
    throw InputError{fmt::format("{} {}", what_, error.what())}.at(place());
  }
  fail(out_of_range(range.text));
}

Bytes TomlValue::in(const Range<Bytes>& range) const {
  return quantity(parse_bytes, range);
}
Seconds TomlValue::in(const Range<Seconds>& range) const {
  return quantity(parse_seconds, range);
}
Rate TomlValue::in(const Range<Rate>& range) const { return quantity(parse_rate, range); }
FlopRate TomlValue::in(const Range<FlopRate>& range) const {
  return quantity(parse_flop_rate, range);
}
Watts TomlValue::in(const Range<Watts>& range) const {
  return quantity(parse_watts, range);
}

std::string TomlTable::named(std::string_view key) const {
  return what_.empty() ? std::string{key} : what_ + ": " + std::string{key};
}

void TomlTable::fail(const std::string& message) const {
  throw InputError{named(message)}.at(place());
}

void TomlTable::allow_only(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : all())
    if (std::ranges::find(keys, key) == keys.end())
      throw InputError{named("unknown key " + in_quotes(key)),
                       fmt::format("one of {}", fmt::join(keys, ", "))}
          .at(toml_place(*file_, table_->find(key)->first.source().begin));
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
    result.emplace_back(std::string{key.str()},
                        TomlValue{node, *file_, named(key.str())});
  std::ranges::sort(result, {}, [this](const auto& entry) {
    const toml::source_position place = table_->get(entry.first)->source().begin;
    return std::pair{place.line, place.column};
  });
  return result;
}

}  // namespace tilerail
