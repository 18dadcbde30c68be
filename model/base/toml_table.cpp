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

void TomlValue::fail(std::string_view problem, std::string_view expected) const {
  std::optional<std::string> value;  // of a scalar
  if (is_text()) value = text();
  if (const auto* number = node_->as_integer()) value = fmt::to_string(number->get());
  if (const auto* number = node_->as_floating_point()) value = shortest(number->get());
  if (const auto* flag = node_->as_boolean()) value = fmt::to_string(flag->get());
  throw InputError{what_, value, problem, expected, place()};
}

std::string TomlValue::text() const {
  if (const auto* value = node_->as_string()) return value->get();
  fail("is not a text", "one in quotes");
}

size_t TomlValue::one_of(std::span<const std::string_view> names) const {
  const auto known = std::ranges::find(names, text());
  if (known != names.end()) return size_t(known - names.begin());
  fail("is unknown",
       fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "),
                   names.back()));
}

bool TomlValue::boolean() const {
  if (const auto* value = node_->as_boolean()) return value->get();
  fail("is not a boolean", "true or false");
}

double TomlValue::in(const Range<double>& range) const {
  const auto value = node_->value<double>();
  if (!node_->is_number()) fail("is not a number", "one without quotes");
  if (!std::isfinite(*value)) fail("is not finite", "a finite number");
  if (!range.holds(*value)) fail("is out of range", range.text);
  return *value;
}

int64_t TomlValue::integer(int64_t least, int64_t most) const {
  const auto* value = node_->as_integer();
  if (!value) fail("is not an integer", "one without quotes");
  if (value->get() < least || value->get() > most)
    fail("is out of range", fmt::format("{} to {}", least, most));
  return value->get();
}

std::vector<TomlValue> TomlValue::list(size_t most) const {
  const auto* values = node_->as_array();
  if (!values) fail("is not a list", "one in brackets");
  if (values->size() > most)
    fail(fmt::format("has {} entries", values->size()), fmt::format("at most {}", most));
  std::vector<TomlValue> result;
  for (const toml::node& value : *values) result.emplace_back(value, *file_, what_);
  return result;
}

std::vector<TomlTable> TomlValue::tables(std::string_view each) const {
  const std::string expected = fmt::format("[[{}]]", each);
  const auto* values = node_->as_array();
  if (!values) fail("is not a list of tables", expected);
  std::vector<TomlTable> result;
  for (const toml::node& value : *values) {
    if (!value.is_table())
      TomlValue{value, *file_, what_}.fail("is not a table", expected);
    result.emplace_back(*value.as_table(), *file_, std::string{each});
  }
  return result;
}

TomlTable TomlValue::table() const {
  const auto* value = node_->as_table();
  if (!value) fail("is not a table", "one");
  return {*value, *file_, what_};
}

std::string TomlTable::named(std::string_view key) const {
  return what_.empty() ? std::string{key} : what_ + ": " + std::string{key};
}

void TomlTable::fail(std::string_view problem, std::string_view expected) const {
  throw fault_of(what_, problem, expected).at(place());
}

void TomlTable::allow_only(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : all())
    if (std::ranges::find(keys, key) == keys.end())
      throw InputError{what_, key, "is an unknown key",
                       fmt::format("one of {}", fmt::join(keys, ", ")),
                       toml_place(*file_, table_->find(key)->first.source().begin)};
}

std::optional<TomlValue> TomlTable::find(std::string_view key) const {
  const toml::node* node = table_->get(key);
  if (!node) return std::nullopt;
  return TomlValue{*node, *file_, named(key)};
}

TomlValue TomlTable::need(std::string_view key) const {
  if (auto value = find(key)) return *value;
  fail(fmt::format("key '{}' is missing", key), "it here");
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
