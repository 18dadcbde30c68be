#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/range.hpp"
#include "model/base/units.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {

/// "file:line:column"; "file" without a line.
std::string toml_place(const std::string& file, const toml::source_position& position);

class TomlTable;

/// One value of a TOML file with its subject, such as "link 'a->b': bandwidth". Every
/// conversion throws InputError "file:line:column: what: 'value' ...; expected ..." if
/// the value has another type or is out of range.
class TomlValue {
 public:
  /// `file` and `node` must outlive this object.
  TomlValue(const toml::node& node, const std::string& file, std::string what)
      : node_{&node}, file_{&file}, what_{std::move(what)} {}

  std::string place() const { return toml_place(*file_, node_->source().begin); }
  [[noreturn]] void fail(std::string_view problem, std::string_view expected) const;

  bool is_text() const { return node_->is_string(); }
  bool is_list() const { return node_->is_array(); }
  bool is_table() const { return node_->is_table(); }
  bool is_empty_list() const { return is_list() && node_->as_array()->empty(); }
  std::string text() const;
  bool boolean() const;
  int64_t integer(int64_t least, int64_t most) const;  // least <= value <= most
  std::vector<TomlValue> list(size_t most) const;      // at most `most` values
  std::vector<TomlTable> tables(
      std::string_view each) const;  // an array of tables, each named `each`
  TomlTable table() const;

  /// A number without quotes, or a quantity with a unit in quotes.
  double in(const Range<double>& range) const;
  int64_t in(const Range<int64_t>& range) const {
    return integer(range.least, range.most);
  }
  int in(const Range<int>& range) const { return int(integer(range.least, range.most)); }
  Bytes in(const Range<Bytes>& range) const { return quantity(parse_bytes, range); }
  Seconds in(const Range<Seconds>& range) const { return quantity(parse_seconds, range); }
  Rate in(const Range<Rate>& range) const { return quantity(parse_rate, range); }
  FlopRate in(const Range<FlopRate>& range) const {
    return quantity(parse_flop_rate, range);
  }
  Watts in(const Range<Watts>& range) const { return quantity(parse_watts, range); }
  /// The index of the text among the names.
  size_t one_of(std::span<const std::string_view> names) const;

 private:
  template <class Q>
  Q quantity(Q (*parse)(std::string_view, std::string_view),
             const Range<Q>& range) const {
    if (!node_->is_string())
      fail("is not a text with a unit", std::string{range.text} + ", in quotes");
    try {
      if (const Q value = parse(text(), what_); range.holds(value)) return value;
    } catch (const InputError& error) {
      throw error.at(place());
    }
    fail("is out of range", range.text);
  }

  const toml::node* node_;
  const std::string* file_;
  std::string what_;
};

/// One table of a TOML file.
class TomlTable {
 public:
  /// `file` and `table` must outlive this object.
  TomlTable(const toml::table& table, const std::string& file, std::string what)
      : table_{&table}, file_{&file}, what_{std::move(what)} {}

  /// Sets the name of the table in messages.
  void rename(std::string what) { what_ = std::move(what); }
  std::string place() const { return toml_place(*file_, table_->source().begin); }
  [[noreturn]] void fail(std::string_view problem, std::string_view expected = {}) const;

  /// Rejects every other key.
  void allow_only(const std::vector<std::string>& keys) const;
  std::optional<TomlValue> find(std::string_view key) const;
  TomlValue need(std::string_view key) const;  // throws without the key

  /// Names and values in the order of the file.
  std::vector<std::pair<std::string, TomlValue>> all() const;

 private:
  std::string named(std::string_view key) const;

  const toml::table* table_;
  const std::string* file_;
  std::string what_;  // empty for the root
};

}  // namespace tilerail
