#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// The elements and texts of an XML file. Comments, instructions and blanks between elements are left out.
class XmlFile {
 public:
  /// `name` begins all errors. Throws InputError "NAME:LINE: ..." for a text that is not XML, has a DOCTYPE, or is
  /// larger or deeper than descriptions of machines are.
  XmlFile(std::string_view text, const std::string& name);

  const std::string& name() const { return name_; }
  /// The outermost element.
  pugi::xml_node root() const { return document_.first_child(); }
  /// In which an element or a text of this file begins.
  ptrdiff_t line_of(pugi::xml_node node) const { return line_at(node.offset_debug()); }
  /// Throws InputError "NAME:LINE: MESSAGE".
  [[noreturn]] void fail(pugi::xml_node node, const std::string& message) const;

 private:
  ptrdiff_t line_at(ptrdiff_t offset) const;
  [[noreturn]] void fail_at(ptrdiff_t offset, const std::string& message) const;
  void check_size() const;
  void check_attributes(pugi::xml_node element) const;
  void check_outermost() const;

  std::string name_;
  std::vector<ptrdiff_t> ends_;  // of lines
  pugi::xml_document document_;
};

/// The attribute, or "" if the element does not have it.
std::string attribute(pugi::xml_node element, const char* name);

/// Of children of this name.
ptrdiff_t count(pugi::xml_node element, const char* name);

}  // namespace tilerail
