#include "model/import/nccl_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>

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

/// What elements of NCCL 2.28 and of RCCL 2.22 contain.
const std::map<std::string_view, ElementRule> rules{
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
  Checker(const XmlFile& file, LeftOut& left_out) : file_{file}, left_out_{left_out} {}

  void check(pugi::xml_node element) {
    const ElementRule& rule = rules.at(element.name());
    check_attributes(element, rule);
    for (const pugi::xml_node& child : element.children()) {
      if (child.type() != pugi::node_element)
        file_.fail(element, fmt::format("{}: the text {} is in it; expected elements alone", element.name(),
                                        in_quotes(child.value())));
      if (!contains(rule.children, child.name()))
        file_.fail(child, fmt::format(
                              "{}: is an unknown element in '{}'; expected {}", in_quotes(child.name()), element.name(),
                              rule.children.empty() ? "none" : fmt::format("{}", fmt::join(rule.children, ", "))));
      if (child.name() != std::string_view{"nic"}) check(child);
    }
  }

 private:
  void check_attributes(pugi::xml_node element, const ElementRule& rule) {
    for (const pugi::xml_attribute& attribute : element.attributes()) {
      const std::string_view key = attribute.name();
      if (key != "keep" && !contains(rule.attributes, key))
        left_out_.add(fmt::format("attribute {} of '{}'", in_quotes(key), element.name()), element);
    }
  }

  const XmlFile& file_;
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

void LeftOut::add(const std::string& what, pugi::xml_node element, int count) {
  Entry& entry = entries_[what];
  if (entry.count == 0) entry.line = file_.line_of(element);
  entry.count += count;
}

std::string LeftOut::text() const {
  std::string text;
  for (const auto& [what, entry] : entries_)
    text += fmt::format("{}{} x {} (line {})", text.empty() ? "" : ", ", entry.count, what, entry.line);
  return text;
}

void check_elements(const XmlFile& file, LeftOut& left_out) { Checker{file, left_out}.check(file.root()); }

}  // namespace tilerail
