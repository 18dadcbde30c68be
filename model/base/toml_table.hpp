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

/// A place in a TOML file.
struct TomlPlace {
  std::string file;
  toml::source_position position{1, 1};
  /// "file:line:column"; "file" if a value comes from no line.
  std::string text() const;
  std::string prefix() const { return text() + ": "; }
};

/// One thing that is wrong in a file.
struct TomlError {
  TomlPlace place;
  std::string message;  // without the place
};

/// A file while it is read: what errors call it, and, where all of them are wanted, the list that they go to. Without
/// it, the first one is thrown.
struct TomlFile {
  std::string name;
  std::vector<TomlError>* errors = nullptr;

  /// Throws InputError, or adds to the list.
  void report(const toml::source_position& position, const std::string& message) const;
};

/// An error at its place. Where all errors are wanted, it ends the reading of one table.
struct TomlFailure : InputError {
  explicit TomlFailure(const TomlError& failed)
      : InputError{"", {}, failed.message, "", failed.place.text()}, error{failed} {}
  TomlError error;
};

/// What follows from an error that has been told already.
struct TomlConsequence : InputError {
  TomlConsequence() : InputError{"follows from another error"} {}
};

/// Does what may throw these two, and goes on where all errors are wanted. Whether nothing was thrown.
template <class Action>
bool collecting(std::vector<TomlError>* errors, const Action& action) try {
  action();
  return true;
} catch (const TomlFailure& failure) {
  if (!errors) throw;
  errors->push_back(failure.error);
  return false;
} catch (const TomlConsequence&) {
  if (!errors) throw;
  return false;
}

class TomlTable;

/// One value of a TOML file, with what it is, such as "link 'a->b': bandwidth". Every conversion reports
/// "file:line:column: what 'value' ...; expected ..." when the value is of another type or out of range, and gives a
/// stand-in where the file wants all errors: no number, an empty text or list, the least integer.
class TomlValue {
 public:
  TomlValue(const toml::node& node, const TomlFile& file, std::string what)
      : node_{&node}, file_{&file}, what_{std::move(what)} {}

  /// Stands for a value that is missing, of which nothing more is reported.
  static TomlValue missing(const TomlFile& file);

  TomlPlace place() const { return {file_->name, node_->source().begin}; }
  void report(const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const;

  bool is_text() const { return node_->is_string(); }
  bool is_list() const { return node_->is_array(); }
  bool is_table() const { return node_->is_table(); }
  bool is_empty_list() const { return is_list() && node_->as_array()->empty(); }
  std::string text() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;  // least <= value <= most
  std::vector<TomlValue> list(std::size_t most) const;                // at most `most` values
  std::vector<TomlTable> tables(std::string_view each) const;         // an array of tables, each called `each`
  TomlTable table() const;

  /// A number without quotes, or a quantity with a unit in quotes.
  double in(const Range<double>& range) const;
  std::int64_t in(const Range<std::int64_t>& range) const { return integer(range.least, range.most); }
  int in(const Range<int>& range) const { return static_cast<int>(integer(range.least, range.most)); }
  Bytes in(const Range<Bytes>& range) const;
  Seconds in(const Range<Seconds>& range) const;
  Rate in(const Range<Rate>& range) const;
  FlopRate in(const Range<FlopRate>& range) const;
  Watts in(const Range<Watts>& range) const;
  /// The number of the name that the text is; 0 of another text, which is reported.
  std::size_t one_of(std::span<const std::string_view> names) const;

 private:
  template <class Q>
  Q quantity(Q (*parse)(std::string_view, std::string_view), const Range<Q>& range) const;
  void report_type(std::string_view is_not, std::string_view expected) const;
  void report_range(std::string_view expected) const;
  std::string shown() const;  // the value, quoted, where it is a scalar

  const toml::node* node_;
  const TomlFile* file_;
  std::string what_;
  mutable bool reported_ = false;  // whether an error of it is known
};

/// One table of a TOML file.
class TomlTable {
 public:
  /// `file` and `table` outlive this.
  TomlTable(const toml::table& table, const TomlFile& file, std::string what)
      : table_{&table}, file_{&file}, what_{std::move(what)} {}

  /// From now on, messages call the table `what`.
  void rename(std::string what) { what_ = std::move(what); }
  TomlPlace place() const { return {file_->name, table_->source().begin}; }
  void report(const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const;

  /// Reports every other key.
  void allow_only(const std::vector<std::string>& keys) const;
  std::optional<TomlValue> find(std::string_view key) const;
  TomlValue need(std::string_view key) const;  // reports when it is missing

  /// Names and values in the order of the file.
  std::vector<std::pair<std::string, TomlValue>> all() const;

 private:
  std::string named(std::string_view key) const;

  const toml::table* table_;
  const TomlFile* file_;
  std::string what_;  // empty for the root
};

}  // namespace tilerail
