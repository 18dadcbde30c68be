#include "model/import/nccl_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "model/base/error.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

/// The number that is all of a text of at most so many hexadecimal digits.
std::optional<std::uint64_t> hexadecimal(std::string_view text, std::size_t most_digits) {
  std::uint64_t value = 0;
  if (text.empty() || text.size() > most_digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

struct ElementRule {
  std::vector<std::string_view> children, attributes;
};

/// What elements of NCCL 2.28 and of RCCL 2.22 contain. "" is the document.
const std::map<std::string_view, ElementRule> rules{
    {"", {{"system"}, {}}},
    {"system", {{"cpu"}, {"version", "name"}}},
    {"cpu", {{"pci", "nic"}, {"numaid", "host_hash", "affinity", "arch", "vendor", "familyid", "modelid"}}},
    {"pci",
     {{"pci", "gpu", "nic", "pcilink"},
      {"busid", "class", "vendor", "device", "subsystem_vendor", "subsystem_device", "link_speed", "link_width"}}},
    {"gpu", {{"nvlink", "xgmi", "c2c"}, {"dev", "sm", "gcn", "arch", "rank", "gdr"}}},
    {"nvlink", {{}, {"target", "count", "tclass"}}},
    {"xgmi", {{}, {"target", "count", "tclass"}}},
    {"c2c", {{}, {"bw", "count"}}},
    {"pcilink", {{}, {"target"}}}};

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Checker {
 public:
  Checker(const std::string& file, LeftOut& left_out) : file_{file}, left_out_{left_out} {}

  void check(const std::string& name, const XmlTree& element) {
    const ElementRule& rule = rules.at(name);
    if (const std::string text = element.data(); !text.empty())
      fail(element, fmt::format("{}: the text {} is in it; expected elements alone", name, in_quotes(text)));
    for (const auto& [child_name, child] : element) {
      if (child_name == "<xmlattr>") {
        check_attributes(name, element, child);
        continue;
      }
      if (!contains(rule.children, child_name)) fail_unknown(name, child_name, child);
      if (child_name != "nic") check(child_name, child);
    }
  }

 private:
  [[noreturn]] void fail(const XmlTree& element, const std::string& message) const {
    throw InputError{place_of(element, file_) + message};
  }

  [[noreturn]] void fail_unknown(const std::string& parent, const std::string& name, const XmlTree& child) const {
    const auto& known = rules.at(parent).children;
    const std::string expected = known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "));
    const std::string place = parent.empty() ? "the file" : fmt::format("'{}'", parent);
    fail(child, fmt::format("{}: is an unknown element in {}; expected {}", in_quotes(name), place, expected));
  }

  void check_attributes(const std::string& name, const XmlTree& element, const XmlTree& attributes) {
    std::set<std::string> seen;
    for (const auto& [key, value] : attributes) {
      if (!seen.insert(key).second) fail(element, fmt::format("{}: {} is there twice", name, in_quotes(key)));
      const bool known = key == line_attribute || key == "keep" || contains(rules.at(name).attributes, key);
      if (!known) left_out_.add(fmt::format("attribute {} of '{}'", in_quotes(key), name), element);
    }
  }

  const std::string& file_;
  LeftOut& left_out_;
};

}  // namespace

std::optional<PciClass> pci_class(std::string_view text) {
  if (!text.starts_with("0x") || text.size() < 4 || !hexadecimal(text.substr(2), 6)) return std::nullopt;
  const std::string_view digits = text.substr(2), base = digits.substr(0, 2);
  if (base == "03" || base == "12") return PciClass::gpu;
  if (base == "02") return PciClass::network;
  if (digits == "068001" || base == "0b" || base == "0B") return PciClass::processor;
  return digits == "068000" || digits == "0680" ? PciClass::nvswitch : PciClass::other;
}

std::optional<std::uint64_t> pci_address(std::string_view text) {
  const std::size_t last = text.rfind(':');
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view slot = text.substr(last + 1);
  const std::string_view before = text.substr(0, last);
  const std::size_t middle = before.rfind(':');
  const std::size_t dot = slot.find('.');
  const auto domain = middle == std::string_view::npos ? 0 : hexadecimal(before.substr(0, middle), 8);
  const auto bus = hexadecimal(middle == std::string_view::npos ? before : before.substr(middle + 1), 2);
  const auto device = hexadecimal(slot.substr(0, dot), 2);
  const auto function = dot == std::string_view::npos ? 0 : hexadecimal(slot.substr(dot + 1), 1);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return *domain << 24 | *bus << 16 | *device << 8 | *function;
}

std::string gcn_architecture(std::string_view gcn) {
  const std::string name{gcn.substr(0, gcn.find(':'))};
  if (name == "910") return "gfx90a";
  const bool number = !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
  return number ? "gfx" + name : name;
}

void LeftOut::add(const std::string& what, const XmlTree& element, int count) {
  Entry& entry = entries_[what];
  if (entry.count == 0) entry.line = attribute(element, line_attribute);
  entry.count += count;
}

std::string LeftOut::text() const {
  std::string text;
  for (const auto& [what, entry] : entries_)
    text += fmt::format("{}{} x {} (line {})", text.empty() ? "" : ", ", entry.count, what, entry.line);
  return text;
}

void check_elements(const XmlTree& document, const std::string& file, LeftOut& left_out) {
  Checker{file, left_out}.check("", document);
}

}  // namespace tilerail
