#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/units.hpp"

namespace tilerail {

/// The elements of an XML file. `text` must outlive this object.
class XmlFile {
 public:
  /// Errors begin with `name`. Throws InputError "NAME:LINE: ..." for a text that is not
  /// XML.
  XmlFile(std::string_view text, const std::string& name);

  const std::string& name() const { return name_; }
  /// The outermost element.
  pugi::xml_node root() const { return document_.document_element(); }
  /// The line in which an element begins.
  size_t line_of(pugi::xml_node element) const { return line_at(element.offset_debug()); }
  /// Throws the error at "NAME:LINE", within the name of the element.
  [[noreturn]] void fail(pugi::xml_node element, const InputError& error) const;

 private:
  size_t line_at(ptrdiff_t offset) const;

  std::string_view text_;
  std::string name_;
  pugi::xml_document document_;
};

/// The attribute, or "" if the element does not have it.
std::string attribute(pugi::xml_node element, const char* name);

/// Kinds of PCI devices according to the attributes `class` and `tclass`.
enum class PciClass { gpu, network, nvswitch, processor, other };

/// The kind for a class such as "0x030200" or "0x03"; none for other texts.
std::optional<PciClass> pci_class(std::string_view text);

/// "0000:0A:00.0" as a number, independent of case, leading zeros of the domain and a
/// missing function. None for other texts.
std::optional<uint64_t> pci_address(std::string_view text);

/// The GT/s of "16.0 GT/s PCIe" or "16 GT/s"; 0 for an unknown speed as Linux and NCCL
/// write it: "", "Unknown", "Unknown speed" and "255". None for other texts.
std::optional<double> pcie_transfers(std::string_view speed);
/// Lanes of a PCIe link; 0 for an unknown width: "", "0", "63" and "255". None for other
/// texts.
std::optional<int> pcie_lanes(std::string_view width);
/// Payload of a PCIe link with this many GT/s and lanes, one direction.
Rate pcie_payload(double transfers, int lanes);

/// One NVLink, one direction, nominal, for a GPU of this compute capability: 90 for 9.0,
/// 0 if unknown.
Rate nvlink_of(int compute_capability);

/// The architecture "gfx942" from RCCL's `gcn`: "gfx942:sramecc+:xnack-" or "942"; 910
/// means gfx90a.
std::string gcn_architecture(std::string_view gcn);

/// Elements that an import ignores: the number of each kind, and the line of the first.
class Omissions {
 public:
  explicit Omissions(const XmlFile& file) : file_{file} {}

  void add(const std::string& what, pugi::xml_node element, int count = 1);
  /// "2 x network card (line 5), ..."; empty without elements.
  std::string text() const;

 private:
  struct Entry {
    size_t line;
    int count = 0;
  };
  const XmlFile& file_;
  std::map<std::string, Entry> entries_;
};

}  // namespace tilerail
