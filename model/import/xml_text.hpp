#pragma once

#include <boost/property_tree/ptree.hpp>
#include <string>
#include <string_view>

namespace tilerail {

using XmlTree = boost::property_tree::ptree;

/// The elements of a text; attributes are in the child "<xmlattr>", with the line that the element begins in. Texts
/// between elements, comments, CDATA sections and instructions are passed over. Throws InputError "FILE:LINE: ..." for
/// a text that is not XML, has a DOCTYPE, or is larger or deeper than descriptions of machines are.
XmlTree parsed_xml(std::string_view text, const std::string& file);

/// "FILE:LINE: " of an element that parsed_xml gave.
std::string place_of(const XmlTree& element, const std::string& file);

/// The attribute, or "" where there is none.
std::string attribute(const XmlTree& element, const std::string& name);

}  // namespace tilerail
