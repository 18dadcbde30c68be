#include "model/import/xml_text.hpp"

#include <fmt/format.h>

#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

/// The parser goes down elements by recursion. Tags that are not closed count, wherever they stand: no file of a
/// machine has many in comments.
void check_depth(std::string_view text, const std::string& file) {
  constexpr int most = 200;
  int depth = 0;
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (text[i] == '\n') ++line;
    if ((text[i] == '<' && next == '/') || (text[i] == '/' && next == '>'))
      --depth;
    else if (text[i] == '<' && next != '?' && next != '!')
      ++depth;
    if (depth > most)
      throw InputError{fmt::format("{}:{}: elements in more than {} others; expected fewer", file, line, most)};
  }
}

/// The parser forgets lines: each element gets its own as its first attribute.
std::string with_lines(std::string_view text) {
  std::string result;
  std::size_t line = 1;
  bool in_name = false;  // of an element
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (in_name && std::string_view{" \t\r\n/>"}.find(c) != std::string_view::npos) {
      result += fmt::format(" {}=\"{}\"", line_attribute, line);
      in_name = false;
    }
    if (c == '\n') ++line;
    if (c == '<') in_name = next != '/' && next != '!' && next != '?';
    result += c;
  }
  return result;
}

}  // namespace

XmlTree parsed_xml(std::string_view text, const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  if (text.size() > most_bytes)
    throw InputError{fmt::format("{}: the file has {} bytes; expected at most 16 MiB", file, text.size())};
  check_depth(text, file);
  XmlTree tree;
  std::istringstream in{with_lines(text)};
  try {
    boost::property_tree::read_xml(
        in, tree, boost::property_tree::xml_parser::trim_whitespace | boost::property_tree::xml_parser::no_comments);
  } catch (const boost::property_tree::xml_parser_error& error) {
    throw InputError{fmt::format("{}:{}: {}; expected XML", file, error.line(), error.message())};
  }
  return tree;
}

std::string place_of(const XmlTree& element, const std::string& file) {
  return fmt::format("{}:{}: ", file, attribute(element, line_attribute));
}

std::string attribute(const XmlTree& element, const std::string& name) {
  return element.get<std::string>("<xmlattr>." + name, "");
}

}  // namespace tilerail
