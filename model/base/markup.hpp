#pragma once

#include <string>
#include <string_view>

namespace tilerail {

/// A text as content of an XML element or value of an attribute.
std::string xml_text(std::string_view text);

}  // namespace tilerail
