#include "model/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <cmath>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

struct Prefix {
  double factor;
  const char* name;
};

/// Four significant digits without an exponent, from 0.001 to 9999.
std::string digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value,
                     size < 9.9995   ? 3
                     : size < 99.995 ? 2
                     : size < 999.95 ? 1
                                     : 0);
}

constexpr std::array<Prefix, 8> prefixes{{{1e12, "T"},
                                          {1e9, "G"},
                                          {1e6, "M"},
                                          {1e3, "k"},
                                          {1, ""},
                                          {1e-3, "m"},
                                          {1e-6, "u"},
                                          {1e-9, "n"}}};
constexpr size_t base = 4;  // without prefix

/// With the first prefix, from `first` on, in which the value is at least 1.
std::string scaled(double value, const char* unit, size_t first = 0) {
  const auto* prefix =
      std::find_if(prefixes.begin() + first, prefixes.end() - 1,
                   [=](const Prefix& each) { return std::abs(value) >= each.factor; });
  return fmt::format("{} {}{}", digits(value / prefix->factor), prefix->name, unit);
}

}  // namespace

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::optional<size_t> first_bad_byte(std::string_view text) {
  using Utf8 = boost::locale::utf::utf_traits<char>;
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  auto at = std::ranges::find_if_not(text, is_ascii);
  while (at != text.end()) {
    const auto begin = at;
    const auto point = Utf8::decode(at, text.end());
    if (point == boost::locale::utf::illegal || point == boost::locale::utf::incomplete)
      return size_t(begin - text.begin());
  }
  return std::nullopt;
}

namespace {

/// Whether a byte starts a UTF-8 character.
bool begins_letter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

size_t letters_in(std::string_view text) {
  return size_t(std::ranges::count_if(text, begins_letter));
}

std::string_view cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  constexpr size_t longest_letter = 4;  // of UTF-8
  for (size_t end = most; end > 0 && most - end < longest_letter; --end)
    if (begins_letter(text[end])) return text.substr(0, end);
  return text.substr(0, most);  // not UTF-8
}

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string{text};
  std::string_view end = text.substr(text.size() - most / 4);
  while (!end.empty() && !begins_letter(end.front())) end.remove_prefix(1);
  return fmt::format("{}...{}", cut(text, most / 2), end);
}

std::string escaped(std::string_view text) {
  std::string result;
  const auto escape = [&](char c) {
    result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  };
  while (!text.empty()) {
    const size_t good = first_bad_byte(text).value_or(text.size());
    for (const char c : text.substr(0, good)) {
      if (is_control(c))
        escape(c);
      else
        result += c;
    }
    if (good < text.size()) escape(text[good]);
    text.remove_prefix(std::min(text.size(), good + 1));
  }
  return result;
}

std::string seconds_text(double seconds) {
  return seconds == 0 ? "0 s" : scaled(seconds, "s", base);
}

std::string bytes_text(double bytes) {
  return std::abs(bytes) < 1e3 ? fmt::format("{:.0f} B", bytes) : scaled(bytes, "B");
}

std::string joules_text(double joules) { return scaled(joules, "J"); }

std::string watts_text(double watts) { return scaled(watts, "W"); }

std::string share_text(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string error_text(std::optional<double> relative_error) {
  return relative_error ? fmt::format("{:+.1f}%", 100 * *relative_error) : "-";
}

std::string aligned(Lines lines, const std::string& align, size_t indent) {
  for (auto& line : lines)
    for (std::string& cell : line) cell = escaped(cell);
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()), 0);
    for (const auto i : indices(line)) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row(indent, ' ');
    for (const auto i : indices(line)) {
      const bool left = align[std::min(i, align.size() - 1)] == 'l';
      if (i > 0) row += "  ";
      row += left ? fmt::format("{:<{}}", line[i], widths[i])
                  : fmt::format("{:>{}}", line[i], widths[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace tilerail
