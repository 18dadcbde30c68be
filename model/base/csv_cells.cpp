#include "model/base/csv_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

#include "model/base/error.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

template <class Number>
Number in_range(const CsvReader& csv, const CsvReader::Cell& cell, std::string_view what,
                std::string_view kind, Number high) {
  const auto value = number_in<Number>(cell.text);
  if (!value || !(*value >= 0 && *value <= high))
    csv.fail(cell,
             {what, excerpt(cell.text), "", fmt::format("{} from 0 to {}", kind, high)});
  return *value;
}

}  // namespace

std::string excerpt(std::string_view text) {
  constexpr size_t longest = 40;
  std::string result{cut(text, longest)};
  std::ranges::replace_if(result, is_control, '?');
  return text.size() > longest ? result + "..." : result;
}

CsvReader::CsvReader(std::string_view csv, std::string file)
    : rest_{csv}, file_{std::move(file)} {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

void CsvReader::fail(const Cell& place, const InputError& error) const {
  throw error.at(fmt::format("{}:{}:{}", file_, place.line, place.column));
}

bool CsvReader::next_line() {
  if (rest_.empty()) return false;
  ++number_;
  const size_t end = rest_.find('\n');
  if (end == std::string_view::npos)
    fail(rest_.size() + 1, "the line is cut off", "a line break");
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  const auto control = std::ranges::find_if(line_, is_control);
  if (control != line_.end()) {
    fail(size_t(control - line_.begin()) + 1,
         fmt::format("control character 0x{:02x}", static_cast<unsigned char>(*control)),
         "text");
  }
  if (const auto bad = first_bad_byte(line_)) {
    fail(*bad + 1,
         fmt::format("byte 0x{:02x} is not UTF-8",
                     static_cast<unsigned char>(line_[*bad])),
         "text");
  }
  return true;
}

std::string_view CsvReader::quoted_cell(size_t& position) {
  const size_t opened = position++;
  std::string text;
  for (; position < line_.size(); ++position) {
    if (line_[position] == '"') {
      if (position + 1 >= line_.size() || line_[position + 1] != '"') break;
      ++position;
    }
    text += line_[position];
  }
  if (position >= line_.size()) fail(opened + 1, "this quote is never closed");
  ++position;
  if (position < line_.size() && line_[position] != ',')
    fail(position + 1, "expected ',' after the closing quote");
  unescaped_.push_back(std::move(text));
  return unescaped_.back();
}

const std::vector<CsvReader::Cell>& CsvReader::cells() {
  cells_.clear();
  unescaped_.clear();
  // Views into unescaped_ must stay valid: a line has at most one quoted cell per comma,
  // and one more.
  unescaped_.reserve(size_t(std::ranges::count(line_, ',')) + 1);
  size_t position = 0;
  while (true) {
    const size_t begin = position;
    if (position < line_.size() && line_[position] == '"') {
      cells_.push_back({quoted_cell(position), number_, begin + 1});
    } else {
      position = std::min(line_.find(',', begin), line_.size());
      cells_.push_back({line_.substr(begin, position - begin), number_, begin + 1});
    }
    if (position >= line_.size()) return cells_;
    ++position;
  }
}

int64_t CsvReader::integer(const Cell& cell, std::string_view what, int64_t high) const {
  return in_range(*this, cell, what, "a whole number", high);
}

double CsvReader::number(const Cell& cell, std::string_view what, double high) const {
  return in_range(*this, cell, what, "a number", high);
}

void append_cell(std::string& csv, std::string_view text) {
  if (std::ranges::any_of(text, is_control)) {
    throw InputError{"timeline", excerpt(text), "contains a control character",
                     "a name without one"};
  }
  if (text.find_first_of(",\"") == std::string_view::npos) {
    csv += text;
    return;
  }
  csv += fmt::format("\"{}\"", boost::replace_all_copy(std::string{text}, "\"", "\"\""));
}

void append_number(std::string& csv, double value) { csv += shortest(value); }
void append_number(std::string& csv, int64_t value) { csv += std::to_string(value); }

}  // namespace tilerail
