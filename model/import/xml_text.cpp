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

}  // namespace

XmlTree parsed_xml(std::string_view text, const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  if (text.size() > most_bytes)
    throw InputError{fmt::format("{}: the file has {} bytes; expected at most 16 MiB", file, text.size())};
  check_depth(text, file);
  XmlTree tree;
  std::istringstream in{std::string{text}};
  try {
    boost::property_tree::read_xml(
        in, tree, boost::property_tree::xml_parser::trim_whitespace | boost::property_tree::xml_parser::no_comments);
  } catch (const boost::property_tree::xml_parser_error& error) {
    throw InputError{fmt::format("{}:{}: {}; expected XML", file, error.line(), error.message())};
  }
  return tree;
}

std::string attribute(const XmlTree& element, const std::string& name) {
  return element.get<std::string>("<xmlattr>." + name, "");
}

}  // namespace tilerail
