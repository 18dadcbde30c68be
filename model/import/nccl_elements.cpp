#include "model/import/nccl_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include "model/base/contains.hpp"
#include "model/base/number_text.hpp"
#include "model/import/assumptions.hpp"

namespace tilerail {
namespace {

/// The number, if the text consists of at most `most_digits` hexadecimal digits.
std::optional<uint64_t> hexadecimal(std::string_view text, size_t most_digits) {
  return text.size() > most_digits ? std::nullopt : number_in<uint64_t>(text, 16);
}

bool has_an_attribute_twice(pugi::xml_node element) {
  return std::ranges::any_of(element.attributes(), [&](pugi::xml_attribute each) {
    return element.attribute(each.name()) != each;
  });
}

}  // namespace

XmlFile::XmlFile(std::string_view text, const std::string& name)
    : text_{text}, name_{name} {
  if (const size_t zero = text.find('\0'); zero != text.npos)
    throw fault_of("", "a zero byte", "XML").at(name, line_at(ptrdiff_t(zero)));
  // Another encoding would shift offsets.
  const auto result = document_.load_buffer(text.data(), text.size(),
                                            pugi::parse_default | pugi::parse_fragment,
                                            pugi::encoding_utf8);
  if (!result)
    throw fault_of("", result.description(), "XML").at(name, line_at(result.offset));
  // pugixml accepts the rest.
  if (const pugi::xml_node element = document_.find_node(has_an_attribute_twice))
    fail(element, given_twice("attribute"));
  if (!root())
    throw fault_of("", "No document element found", "XML")
        .at(name, line_at(ptrdiff_t(text.size())));
  for (const pugi::xml_node& node : document_.children())
    if (node != root())
      throw fault_of("not XML", "text or an element next to the outermost element",
                     "one outermost element")
          .at(name, line_of(node));
}

size_t XmlFile::line_at(ptrdiff_t offset) const {
  return 1 + size_t(std::ranges::count(text_.substr(0, size_t(offset)), '\n'));
}

void XmlFile::fail(pugi::xml_node element, const InputError& error) const {
  throw error.within(element.name()).at(name_, line_of(element));
}

std::string attribute(pugi::xml_node element, const char* name) {
  return element.attribute(name).value();
}

std::optional<PciClass> pci_class(std::string_view text) {
  if (!text.starts_with("0x") || text.size() < 4 || !hexadecimal(text.substr(2), 6))
    return std::nullopt;
  const std::string_view digits = text.substr(2), base = digits.substr(0, 2);
  if (base == "03" || base == "12") return PciClass::gpu;
  if (base == "02") return PciClass::network;
  if (digits == "068001" || base == "0b" || base == "0B") return PciClass::processor;
  return digits == "068000" || digits == "0680" ? PciClass::nvswitch : PciClass::other;
}

std::optional<uint64_t> pci_address(std::string_view text) {
  static const std::regex form{
      "(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:[.]([0-9a-f]))?",
      std::regex::icase};
  std::match_results<std::string_view::const_iterator> parts;
  if (!std::regex_match(text.begin(), text.end(), parts, form)) return std::nullopt;
  const auto number = [&](size_t part) {
    return hexadecimal(parts[part].str(), 8).value_or(0);
  };
  return number(1) << 24 | number(2) << 16 | number(3) << 8 | number(4);
}

std::optional<double> pcie_transfers(std::string_view speed) {
  constexpr std::array<std::string_view, 4> unknown{"", "Unknown speed", "Unknown",
                                                    "255"};
  constexpr std::string_view unit = " GT/s", rest = " PCIe";
  if (contains(unknown, speed)) return 0;
  if (speed.ends_with(rest)) speed.remove_suffix(rest.size());
  if (!speed.ends_with(unit)) return std::nullopt;
  speed.remove_suffix(unit.size());
  const auto value = number_in<double>(speed, std::chars_format::fixed);
  return value && contains(assumptions::pcie_transfers, *value) ? value : std::nullopt;
}

std::optional<int> pcie_lanes(std::string_view width) {
  constexpr std::array<std::string_view, 4> unknown{"", "0", "63", "255"};
  if (contains(unknown, width)) return 0;
  const auto value = number_in<int>(width);
  return value && contains(assumptions::pcie_widths, *value) ? value : std::nullopt;
}

Rate pcie_payload(double transfers, int lanes) {
  namespace known = assumptions;
  const double payload = transfers < known::line_code_from ? known::old_line_code
                         : transfers < known::flits_from   ? known::line_code
                                                           : known::flits;
  return Rate{transfers * 1e9 * lanes / 8 * payload};
}

Rate nvlink_of(int compute_capability) {
  if (compute_capability == 0) return assumptions::nvlink_nominal;
  for (const auto& [from, rate] : assumptions::nvlinks)
    if (compute_capability >= from) return rate;
  return assumptions::nvlinks.back().second;
}

std::string gcn_architecture(std::string_view gcn) {
  const std::string name{gcn.substr(0, gcn.find(':'))};
  if (name == "910") return "gfx90a";
  const bool number = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  return number ? "gfx" + name : name;
}

void Omissions::add(const std::string& what, pugi::xml_node element, int count) {
  auto entry = entries_.find(what);
  if (entry == entries_.end())
    entry = entries_.emplace(what, Entry{file_.line_of(element)}).first;
  entry->second.count += count;
}

std::string Omissions::text() const {
  std::string text;
  for (const auto& [what, entry] : entries_)
    text += fmt::format("{}{} x {} (line {})", text.empty() ? "" : ", ", entry.count,
                        what, entry.line);
  return text;
}

}  // namespace tilerail
