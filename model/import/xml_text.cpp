#include "model/import/xml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "model/base/error.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr size_t most_bytes = size_t{16} << 20;
constexpr int most_depth = 200, most_elements = 200'000;

/// Calls `visit` with every element and its depth, in the file's order. Without recursion.
template <class Visit>
class Walk : public pugi::xml_tree_walker {
 public:
  explicit Walk(const Visit& visit) : visit_{visit} {}

  bool for_each(pugi::xml_node& node) override {
    if (node.type() == pugi::node_element) visit_(node, depth());
    return true;
  }

 private:
  const Visit& visit_;
};

}  // namespace

XmlFile::XmlFile(std::string_view text, const std::string& name) : name_{name} {
  if (text.size() > most_bytes)
    throw InputError{fmt::format("the file has {} bytes", text.size()), "at most 16 MiB"}.at(name);
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    ends_.push_back(ptrdiff_t(at));
  if (const size_t at = text.find('\0'); at != std::string_view::npos)  // where pugixml stops reading
    fail_at(ptrdiff_t(at), "a byte is 0; expected XML");
  // Without parse_fragment, pugixml ignores texts outside of the outermost element; another encoding moves offsets.
  const unsigned options = pugi::parse_default | pugi::parse_fragment | pugi::parse_doctype | pugi::parse_trim_pcdata;
  const auto result = document_.load_buffer(text.data(), text.size(), options, pugi::encoding_utf8);
  check_size();  // of what was read up to the error, if there is one
  if (!result) fail_at(result.offset, fmt::format("{}; expected XML", result.description()));
  check_outermost();
}

ptrdiff_t XmlFile::line_at(ptrdiff_t offset) const {
  return std::ranges::lower_bound(ends_, offset) - ends_.begin() + 1;
}

void XmlFile::fail_at(ptrdiff_t offset, const std::string& message) const {
  throw InputError{message}.at(name_, size_t(line_at(offset)));
}

void XmlFile::fail(pugi::xml_node node, const std::string& message) const { fail_at(node.offset_debug(), message); }

void XmlFile::check_size() const {
  int elements = 0;
  const auto visit = [&](pugi::xml_node element, int depth) {
    if (depth >= most_depth) fail(element, fmt::format("elements in more than {} others; expected fewer", most_depth));
    if (++elements > most_elements) fail(element, fmt::format("more than {} elements; expected fewer", most_elements));
    check_attributes(element);
  };
  Walk walk{visit};
  root().parent().traverse(walk);
}

void XmlFile::check_attributes(pugi::xml_node element) const {
  std::set<std::string_view> names;
  for (const pugi::xml_attribute& attribute : element.attributes())
    if (!names.insert(attribute.name()).second)
      fail(element, fmt::format("{}: attribute {} is there twice; expected it once", in_quotes(element.name()),
                                in_quotes(attribute.name())));
}

void XmlFile::check_outermost() const {
  for (const pugi::xml_node& node : document_.children()) {
    if (node.type() == pugi::node_doctype) fail(node, "a DOCTYPE is not read; expected elements alone");
    if (node.type() != pugi::node_element) fail(node, "there is text outside of the elements; expected XML");
    if (node != root())
      fail(node, fmt::format("element {} is behind the outermost; expected one", in_quotes(node.name())));
  }
  if (!root()) fail_at(0, "there is no element; expected XML");
}

std::string attribute(pugi::xml_node element, const char* name) { return element.attribute(name).value(); }

ptrdiff_t count(pugi::xml_node element, const char* name) {
  const auto children = element.children(name);
  return std::distance(children.begin(), children.end());
}

}  // namespace tilerail
