#include "model/import/nccl_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/base/number_text.hpp"

namespace tilerail {
namespace {

/// The number that is all of a text of at most so many hexadecimal digits.
std::optional<uint64_t> hexadecimal(std::string_view text, size_t most_digits) {
  return text.size() > most_digits ? std::nullopt : number_in<uint64_t>(text, 16);
}

}  // namespace

std::optional<PciClass> pci_class(std::string_view text) {
  if (!text.starts_with("0x") || text.size() < 4 || !hexadecimal(text.substr(2), 6)) return std::nullopt;
  const std::string_view digits = text.substr(2), base = digits.substr(0, 2);
  if (base == "03" || base == "12") return PciClass::gpu;
  if (base == "02") return PciClass::network;
  if (digits == "068001" || base == "0b" || base == "0B") return PciClass::processor;
  return digits == "068000" || digits == "0680" ? PciClass::nvswitch : PciClass::other;
}

std::optional<uint64_t> pci_address(std::string_view text) {
  const size_t last = text.rfind(':');
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view slot = text.substr(last + 1);
  const std::string_view before = text.substr(0, last);
  const size_t middle = before.rfind(':');
  const size_t dot = slot.find('.');
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

}  // namespace tilerail
