#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error.hpp"

namespace tilerail {

/// An excerpt that fits in a one-line error message.
std::string excerpt(std::string_view text);

/// Reads a CSV text line by line (RFC 4180 without line breaks inside quotes). Throws
/// InputError with the place.
class CsvReader {
 public:
  /// One cell; lines and columns count from 1, columns in characters.
  struct Cell {
    std::string_view text;
    size_t line = 1, column = 1;
  };

  /// Skips a byte order mark at the beginning, as written by spreadsheets.
  CsvReader(std::string_view csv, std::string file);

  /// Moves to the next line (Unix or Windows line break); false at the end. A last line
  /// without a line break is an error, because the file is truncated.
  bool next_line();
  std::string_view line() const { return line_; }
  size_t line_number() const { return number_; }
  bool next_line_starts_with(char c) const {
    return !rest_.empty() && rest_.front() == c;
  }

  /// The cells of the current line; valid until the next call.
  const std::vector<Cell>& cells();

  /// Throws InputError at "file:line:column"; the first form names the current line.
  [[noreturn]] void fail(size_t column, std::string_view problem,
                         std::string_view expected = {}) const {
    fail({{}, number_ == 0 ? 1 : number_, column}, fault_of("", problem, expected));
  }
  [[noreturn]] void fail(const Cell& place, const InputError& error) const;

  /// The number in a cell, in [0, high]; `what` names the cell in errors.
  int64_t integer(const Cell& cell, std::string_view what, int64_t high) const;
  double number(const Cell& cell, std::string_view what, double high) const;

 private:
  std::string_view quoted_cell(size_t& position);

  std::string_view rest_, line_;
  std::string file_;
  size_t number_ = 0;
  std::vector<Cell> cells_;
  std::vector<std::string> unescaped_;  // texts of quoted cells
};

/// Appends one cell, quoted if necessary. Throws InputError if the text contains a
/// control character.
void append_cell(std::string& csv, std::string_view text);
void append_number(std::string& csv,
                   double value);  // shortest text that reads back as the same value
void append_number(std::string& csv, int64_t value);

}  // namespace tilerail
