#include "model/import/xml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20, most_depth = 200, most_elements = 200'000;
constexpr const char *line_attribute = "line-of-the-file", *attributes = "<xmlattr>";
constexpr std::string_view blanks = " \t\r\n";

/// What a reference such as "&lt;" or "&#x41;" stands for, without '&' and ';'.
std::optional<std::string> referred(std::string_view name) {
  for (const auto& [known, letter] : {std::pair{"lt", "<"}, {"gt", ">"}, {"amp", "&"}, {"quot", "\""}, {"apos", "'"}})
    if (name == known) return letter;
  if (!name.starts_with('#')) return std::nullopt;
  const bool hexadecimal = name.starts_with("#x");
  name.remove_prefix(hexadecimal ? 2 : 1);
  boost::locale::utf::code_point point = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), point, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != name.data() + name.size() || point == 0 ||
      !boost::locale::utf::is_valid_codepoint(point))
    return std::nullopt;
  std::string letter;
  boost::locale::utf::utf_traits<char>::encode(point, std::back_inserter(letter));
  return letter;
}

/// Reads a text from its begin to its end, without recursion: an open element is an entry of a list.
class XmlParser {
 public:
  XmlParser(std::string_view text, const std::string& file) : text_{text}, file_{file} {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  }

  XmlTree parsed() {
    while (at_ < text_.size()) {
      if (text_[at_] != '<')
        pass_text();
      else
        read_markup();
    }
    if (!open_.empty())
      fail(fmt::format("the file ends in element {} of line {}", in_quotes(open_.back().name), open_.back().line));
    if (elements_ == 0) fail("there is no element");
    return std::move(root_);
  }

 private:
  struct Open {
    std::string name;
    std::size_t line;
    XmlTree* element;
  };

  [[noreturn]] void fail(const std::string& message) { refuse(message + "; expected XML"); }
  [[noreturn]] void refuse(const std::string& message) {
    throw InputError{fmt::format("{}:{}: {}", file_, line(), message)};
  }

  /// Of the current place.
  std::size_t line() {
    const std::size_t end = std::min(at_, text_.size());
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    counted_ = end;
    return line_;
  }

  bool skip(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

  /// To behind the next `end`.
  void skip_behind(std::string_view end, const char* what) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) fail(fmt::format("the {} has no end", what));
    at_ = found + end.size();
  }

  /// Descriptions of machines are in elements and attributes alone.
  void pass_text() {
    const std::size_t end = std::min(text_.find('<', at_), text_.size());
    const std::string_view passed = text_.substr(at_, end - at_);
    if (open_.empty() && passed.find_first_not_of(blanks) != std::string_view::npos) {
      skip_blanks();
      fail("there is text outside of the elements");
    }
    at_ = end;
  }

  void read_markup() {
    if (skip("<!--")) return skip_behind("-->", "comment");
    if (skip("<?")) return skip_behind("?>", "instruction");
    if (!open_.empty() && skip("<![CDATA[")) return skip_behind("]]>", "CDATA section");
    if (text_.substr(at_).starts_with("<!"))
      refuse("a declaration such as DOCTYPE is not read; expected elements alone");
    if (skip("</")) return close_element();
    ++at_;
    open_element();
  }

  std::string name(const char* what) {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n/>=<\"'&", at_), text_.size());
    if (at_ == begin) fail(fmt::format("the name of {} is missing", what));
    return std::string{text_.substr(begin, at_ - begin)};
  }

  void open_element() {
    const std::size_t begun = line();
    std::string called = name("an element");
    if (open_.empty() && elements_ > 0) fail(fmt::format("element {} is behind the outermost", in_quotes(called)));
    if (open_.size() == most_depth) refuse(fmt::format("elements in more than {} others; expected fewer", most_depth));
    if (++elements_ > most_elements) refuse(fmt::format("more than {} elements; expected fewer", most_elements));
    XmlTree& parent = open_.empty() ? root_ : *open_.back().element;
    XmlTree& element = parent.push_back({called, XmlTree{}})->second;
    XmlTree& all = element.push_back({attributes, XmlTree{}})->second;
    all.push_back({line_attribute, XmlTree{std::to_string(begun)}});
    while (true) {
      skip_blanks();
      if (skip("/>")) return;
      if (skip(">")) return open_.push_back({std::move(called), begun, &element});
      if (at_ >= text_.size()) fail(fmt::format("the file ends in the tag of element {}", in_quotes(called)));
      read_attribute(all);
    }
  }

  void read_attribute(XmlTree& all) {
    if (blanks.find(text_[at_ - 1]) == std::string_view::npos) fail("there is no blank before an attribute");
    const std::string called = name("an attribute");
    if (all.find(called) != all.not_found()) fail(fmt::format("attribute {} is there twice", in_quotes(called)));
    skip_blanks();
    if (!skip("=")) fail(fmt::format("attribute {} has no value", in_quotes(called)));
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    const std::size_t end = quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail(fmt::format("attribute {} has no value in quotes", in_quotes(called)));
    all.push_back({called, XmlTree{value(text_.substr(at_ + 1, end - at_ - 1), called)}});
    at_ = end + 1;
  }

  /// With its references replaced.
  std::string value(std::string_view raw, const std::string& attribute) {
    if (raw.find('<') != std::string_view::npos) fail(fmt::format("attribute {} holds '<'", in_quotes(attribute)));
    std::string result;
    for (std::size_t begin; (begin = raw.find('&')) != std::string_view::npos;) {
      const std::size_t end = raw.find(';', begin);
      const auto letter =
          end == std::string_view::npos ? std::nullopt : referred(raw.substr(begin + 1, end - begin - 1));
      if (!letter)
        fail(fmt::format("attribute {} holds {}, which is not known", in_quotes(attribute),
                         in_quotes(raw.substr(begin, std::min(end, raw.size()) - begin))));
      result.append(raw.substr(0, begin)).append(*letter);
      raw.remove_prefix(end + 1);
    }
    return result.append(raw);
  }

  void close_element() {
    const std::string called = name("an element");
    if (open_.empty() || open_.back().name != called)
      fail(fmt::format("element {} ends, which is not the innermost", in_quotes(called)));
    skip_blanks();
    if (!skip(">")) fail(fmt::format("the end of element {} has no '>'", in_quotes(called)));
    open_.pop_back();
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, counted_ = 0, line_ = 1, elements_ = 0;
  std::vector<Open> open_;
  XmlTree root_;
};

}  // namespace

XmlTree parsed_xml(std::string_view text, const std::string& file) {
  if (text.size() > most_bytes)
    throw InputError{fmt::format("{}: the file has {} bytes; expected at most 16 MiB", file, text.size())};
  return XmlParser{text, file}.parsed();
}

std::string place_of(const XmlTree& element, const std::string& file) {
  return fmt::format("{}:{}: ", file, attribute(element, line_attribute));
}

std::string attribute(const XmlTree& element, const std::string& name) {
  return element.get<std::string>(std::string{attributes} + "." + name, "");
}

}  // namespace tilerail
