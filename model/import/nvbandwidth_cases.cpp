#include "model/import/nvbandwidth_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/base/indices.hpp"
#include "model/base/json_parser.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/link_values.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::most_gpus;

constexpr const char* expected_text =
    "what 'nvbandwidth -j' ('nvbandwidth --format json' of newer versions) or 'nvbandwidth' prints";
constexpr std::string_view waived = "Waived";  // not run, since the machine has no such links
constexpr const char* expected_rate = "a rate of 0.001 to 1000000 GB/s, or N/A";

bool is_rate(double gigabytes) { return gigabytes == 0 || TopologyLimits::rate.holds(Rate{gigabytes * 1e9}); }

std::optional<Rate> rate_of(double gigabytes) {
  return gigabytes == 0 ? std::nullopt : std::optional{Rate{gigabytes * 1e9}};
}

/// "25.5" or 25.5 as 25.5 GB/s; nothing of "N/A" and 0.
std::optional<Rate> rate_of(const JsonReader& cell) {
  if (!cell.is_number() && cell.text() == "N/A") return std::nullopt;
  const auto value = cell.is_number() ? std::optional{cell.real()} : finite_number(cell.text());
  if (!value) cell.fail("a rate in GB/s or N/A");
  if (!is_rate(*value)) cell.fail(expected_rate);
  return rate_of(*value);
}

MeasuredPairs cells_of(const JsonReader& matrix) {
  MeasuredPairs cells;
  for (const auto r : indices(matrix)) {
    const JsonReader row = matrix.entry(r);
    if (row.size() > most_gpus) row.fail(fmt::format("at most {} GPUs", most_gpus));
    cells.emplace_back();
    for (const auto c : indices(row)) cells.back().push_back(rate_of(row.entry(c)));
  }
  return cells;
}

/// What stands in the text for a test case: "Running NAME.", a description with a unit, a row of numbers of GPUs, rows
/// of rates after the number of their GPU, and "SUM NAME RATE"; or, for one that was not run, "Waived: ...".
class TextReader {
 public:
  struct Found {
    std::string name, status;
    size_t line;
    MeasuredPairs cells;
  };

  TextReader(std::string_view text, const std::string& file) : lines_{lines_of(text)}, file_{file} {}

  std::vector<Found> read() {
    for (line_ = 1; line_ <= lines_.size(); ++line_) {
      words_ = words_of(lines_[line_ - 1]);
      if (words_.empty())
        in_matrix_ = false;
      else
        take();
    }
    finish();
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError{message}.at(file_, line_); }
  [[noreturn]] void fail_in_case(const std::string& what) const {
    throw InputError{fmt::format("{} of {}", what, name_), "the whole output of nvbandwidth"}.at(file_, begin_);
  }

  void take() {
    const std::string& first = words_.front();
    if (first == "Running" && words_.size() == 2) return begin();
    if (name_.empty()) return;
    if (first == "SUM" && words_.size() == 3) {
      end_matrix(words_[1]);
    } else if (in_matrix_ && whole_number(first, 0, most_gpus)) {
      add_row();
    } else if (!in_matrix_ && is_header()) {
      begin_matrix();
    } else if (first.ends_with(":") && first != "NOTE:") {
      status_ = first.substr(0, first.size() - 1);
    } else if (words_.back().ends_with("/s)") && words_.back() != "(GB/s)") {
      fail(fmt::format("rates in {}; expected (GB/s)", words_.back()));
    }
  }

  void begin_matrix() {
    in_matrix_ = true;
    check_matrix();
    columns_ = words_.size();
    sums_before_ = sums_;
    found_.push_back({name_, "", begin_, {}});
  }

  void end_matrix(const std::string& name) {
    if (!found_.empty() && found_.back().line >= begin_) found_.back().name = name;
    in_matrix_ = false;
    ++sums_;
  }

  bool is_header() const {
    for (const auto i : indices(words_))
      if (words_[i] != std::to_string(i)) return false;
    return !words_.empty();
  }

  void begin() {
    finish();
    name_ = words_[1];
    if (name_.ends_with(".")) name_.pop_back();
    begin_ = line_;
    status_.clear();
    in_matrix_ = false;
  }

  bool has_matrix() const { return !found_.empty() && found_.back().line >= begin_; }

  void finish() {
    if (name_.empty()) return;
    if (has_matrix()) {
      if (!status_.empty()) found_.back().status = status_;
      return check_matrix();
    }
    const bool needed = name_.starts_with("device_to_device") || line_ > lines_.size();
    if (status_.empty() && needed) fail_in_case("there is no matrix");
    found_.push_back({name_, status_.empty() ? "no matrix" : status_, begin_, {}});
  }

  /// A text that was cut off ends within its last matrix, or before the sum that follows each matrix.
  void check_matrix() const {
    if (!has_matrix() || !found_.back().status.empty()) return;
    const size_t rows = found_.back().cells.size();
    if (rows == 0 || (name_.starts_with("device_to_device") && rows != columns_))
      fail_in_case(fmt::format("{} rows and {} columns in a matrix", rows, columns_));
    if (sums_before_ > 0 && sums_ == sums_before_) fail_in_case("there is no line SUM after a matrix");
  }

  void add_row() {
    if (words_.size() != columns_ + 1)
      fail(fmt::format("{} rates; expected {}, one for each column", words_.size() - 1, columns_));
    if (columns_ > most_gpus) fail(fmt::format("{} GPUs; expected at most {}", columns_, most_gpus));
    auto& row = found_.back().cells.emplace_back();
    for (size_t i = 1; i < words_.size(); ++i) {
      const auto value = words_[i] == "N/A" ? std::optional{0.0} : finite_number(words_[i]);
      if (!value || !is_rate(*value))
        fail(fmt::format("{} is no rate; expected {}", in_quotes(words_[i]), expected_rate));
      row.push_back(rate_of(*value));
    }
  }

  std::vector<std::string_view> lines_;
  const std::string& file_;
  size_t line_ = 0, begin_ = 0, columns_ = 0, sums_ = 0, sums_before_ = 0;
  std::vector<std::string> words_;
  std::string name_, status_;
  bool in_matrix_ = false;
  std::vector<Found> found_;
};

}  // namespace

NvbandwidthCases::NvbandwidthCases(std::string_view text, const std::string& file) : file_{file} {
  if (text.starts_with(utf8_mark)) text.remove_prefix(utf8_mark.size());
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '['))
    read_json(text);
  else
    read_text(text);
  const Case* in = find("host_to_device_memcpy_ce");
  if (in == nullptr || in->cells.empty() || in->cells.front().empty())
    throw InputError{"there is no matrix of host_to_device_memcpy_ce",
                     fmt::format("{}, with that test case", expected_text)}
        .at(file);
  gpus_ = in->cells.front().size();
}

/// Files of old versions do not tell which test cases passed.
void NvbandwidthCases::read_json(std::string_view text) {
  const Json json = parse_json(text, file_);
  const JsonReader root{json, file_, ""};
  if (!root.has("nvbandwidth")) throw missing("nvbandwidth", expected_text).at(file_);
  const JsonReader cases = root.at("nvbandwidth").at("testcases");
  for (const auto i : indices(cases)) {
    const JsonReader each = cases.entry(i);
    const JsonReader name = each.at("name");
    const std::string place = fmt::format("testcases/{}", i);
    const std::string status = each.has("status") ? each.at("status").text() : "Passed";
    if (status == waived) continue;
    if (!each.has("bandwidth_matrix") || status != "Passed") {
      failed_.push_back(fmt::format("{} ({}, {})", name.text(), place, status == "Passed" ? "no matrix" : status));
      continue;
    }
    if (!all_.emplace(name.text(), Case{cells_of(each.at("bandwidth_matrix")), place, status}).second)
      name.fail("a test case that is there once");
  }
}

void NvbandwidthCases::read_text(std::string_view text) {
  const auto found = TextReader{text, file_}.read();
  if (found.empty()) throw InputError{"there is no line 'Running ...'", expected_text}.at(file_, 1);
  for (const auto& each : found) {
    const std::string place = fmt::format("line {}", each.line);
    if (each.status == waived) continue;
    if (!each.status.empty())
      failed_.push_back(fmt::format("{} ({}, {})", each.name, place, each.status));
    else if (!all_.emplace(each.name, Case{each.cells, place, "Passed"}).second)
      throw given_twice(each.name).at(file_, each.line);
  }
}

const NvbandwidthCases::Case* NvbandwidthCases::find(const std::string& name) const {
  const auto known = all_.find(name);
  if (known == all_.end()) return nullptr;
  known->second.used = true;
  return &known->second;
}

const MeasuredRates* NvbandwidthCases::host(const std::string& name) const {
  const Case* known = find(name);
  if (known == nullptr || known->cells.empty()) return nullptr;
  if (known->cells.size() > 1)
    throw InputError{fmt::format("{} has {} rows", name, known->cells.size()), "one"}.at(
        fmt::format("{}: {}", file_, known->place));
  if (known->cells.front().size() != gpus_)
    throw InputError{fmt::format("{} has {} GPUs", name, known->cells.front().size()), std::to_string(gpus_)}.at(file_);
  return &known->cells.front();
}

MeasuredPairs NvbandwidthCases::pairs() const {
  const MeasuredPairs reads = pairs_of("device_to_device_memcpy_read_ce", false);
  return reads.empty() ? pairs_of("device_to_device_memcpy_write_ce", true) : reads;
}

MeasuredPairs NvbandwidthCases::pairs_both() const {
  const MeasuredPairs reads = pairs_of("device_to_device_bidirectional_memcpy_read_ce_total", true);
  return reads.empty() ? pairs_of("device_to_device_bidirectional_memcpy_write_ce_total", true) : reads;
}

MeasuredPairs NvbandwidthCases::pairs_of(const std::string& name, bool from_row) const {
  const Case* known = find(name);
  if (known == nullptr) return {};
  const auto has_all_columns = [&](const MeasuredRates& row) { return row.size() == gpus_; };
  if (known->cells.size() != gpus_ || !std::ranges::all_of(known->cells, has_all_columns))
    throw InputError{fmt::format("the matrix of {} is not {} x {}", name, gpus_, gpus_), "a cell for each pair"}.at(
        fmt::format("{}: {}", file_, known->place));
  MeasuredPairs cells(gpus_, MeasuredRates(gpus_));
  for (size_t i = 0; i < gpus_; ++i)
    for (size_t j = 0; j < gpus_; ++j)
      if (i != j) cells[i][j] = from_row ? known->cells[i][j] : known->cells[j][i];
  return cells;
}

std::string NvbandwidthCases::left_out() const {
  std::vector<std::string> names = failed_;
  for (const auto& [name, each] : all_)
    if (!each.used) names.push_back(fmt::format("{} ({})", name, each.place));
  return names.empty() ? "" : fmt::format("{}: these test cases are not used: {}", file_, fmt::join(names, ", "));
}

}  // namespace tilerail
