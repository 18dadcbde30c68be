#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/range.hpp"
#include "model/base/units.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {

/// "file:line:column: " of a place in a TOML file.
struct TomlPlace {
  std::string file;
  toml::source_position position{1, 1};
  std::string prefix() const;
};

class TomlTable;

/// One value of a TOML file, with what it is, such as "link 'a->b': bandwidth". Every conversion throws InputError
/// "file:line:column: what 'value' ...; expected ..." when the value is of another type or out of range.
class TomlValue {
 public:
  TomlValue(const toml::node& node, const std::string& file, std::string what)
      : node_{&node}, file_{&file}, what_{std::move(what)} {}

  TomlPlace place() const { return {*file_, node_->source().begin}; }
  [[noreturn]] void fail(const std::string& message) const;

  bool is_text() const { return node_->is_string(); }
  std::string text() const;
  bool boolean() const;
  double number(const Range<double>& range) const;                    // in the range, as are all quantities
  std::int64_t integer(std::int64_t least, std::int64_t most) const;  // least <= value <= most
  std::vector<TomlValue> list(std::size_t most) const;                // at most `most` values
  std::vector<TomlValue> pair() const;                                // exactly two values
  std::vector<TomlTable> tables(std::string_view each) const;         // an array of tables, each called `each`
  TomlTable table() const;

  Bytes bytes(const Range<Bytes>& range) const;
  Seconds seconds(const Range<Seconds>& range) const;
  Rate rate(const Range<Rate>& range) const;
  FlopRate flop_rate(const Range<FlopRate>& range) const;
  Watts watts(const Range<Watts>& range) const;

 private:
  template <class Q>
  Q quantity(Q (*parse)(std::string_view), const Range<Q>& range) const;
  std::string shown() const;  // the value, quoted, where it is a scalar

  const toml::node* node_;
  const std::string* file_;
  std::string what_;
};

/// One table of a TOML file.
class TomlTable {
 public:
  /// `file` and `table` outlive this.
  TomlTable(const toml::table& table, const std::string& file, std::string what)
      : table_{&table}, file_{&file}, what_{std::move(what)} {}

  /// From now on, messages call the table `what`.
  void rename(std::string what) { what_ = std::move(what); }
  TomlPlace place() const { return {*file_, table_->source().begin}; }
  [[noreturn]] void fail(const std::string& message) const;

  /// Throws InputError for the first other key.
  void allow_only(std::initializer_list<std::string_view> keys) const;
  std::optional<TomlValue> find(std::string_view key) const;
  TomlValue need(std::string_view key) const;  // throws InputError when it is missing

  /// Names and values in the order of the file.
  std::vector<std::pair<std::string, TomlValue>> all() const;

 private:
  std::string named(std::string_view key) const;

  const toml::table* table_;
  const std::string* file_;
  std::string what_;  // empty for the root
};

}  // namespace tilerail
