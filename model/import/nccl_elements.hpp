#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/import/xml_text.hpp"

namespace tilerail {

/// Kinds of PCI devices that the attributes `class` and `tclass` tell apart.
enum class PciClass { gpu, network, nvswitch, processor, other };

/// Of a class such as "0x030200" or "0x03"; nothing of other texts.
std::optional<PciClass> pci_class(std::string_view text);

/// "0000:0A:00.0" as a number. Case, leading zeros of the domain and a missing function make no difference. Nothing of
/// other texts.
std::optional<uint64_t> pci_address(std::string_view text);

/// "gfx942" of what RCCL writes as `gcn`: "gfx942:sramecc+:xnack-", "942"; 910 of gfx90a.
std::string gcn_architecture(std::string_view gcn);

/// What an import leaves out of the machine: how many of each, and the line of the first.
class LeftOut {
 public:
  explicit LeftOut(const XmlFile& file) : file_{file} {}

  void add(const std::string& what, pugi::xml_node element, int count = 1);
  /// "2 x network card (line 5), ..."; empty if there is nothing.
  std::string text() const;

 private:
  struct Entry {
    int count = 0;
    ptrdiff_t line = 0;
  };
  const XmlFile& file_;
  std::map<std::string, Entry> entries_;
};

}  // namespace tilerail
