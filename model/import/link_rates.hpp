#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// What the keys of the sources of NVLinks and xGMI links begin with, before the `sm` or the architecture.
inline constexpr const char *nvlink_source = "NVLink of sm ", *xgmi_source = "xGMI of ";

/// The architectures whose xGMI links have a known rate.
std::vector<std::string_view> xgmi_architectures();

/// One NVLink or xGMI link in one direction, and the key of the source that says so.
struct LinkUnit {
  Rate rate;
  std::string source;
};

/// Rates of single links between GPUs, by the GPU. Remembers the sources of those that were asked for.
class LinkRates {
 public:
  /// A rate that is given holds for all links.
  explicit LinkRates(std::optional<Rate> given) : given_{given} {}

  /// By compute capability, "90" of 9.0; "" where it is unknown.
  LinkUnit nvlink(const std::string& sm);
  /// By architecture, "gfx942". Nothing where its links have no known rate.
  std::optional<LinkUnit> xgmi(const std::string& architecture);

  std::vector<Source> sources() const;

 private:
  LinkUnit unit(const std::string& key, Rate rate, Source::Kind kind, const std::string& text);

  std::optional<Rate> given_;
  std::map<std::string, Source> sources_;
};

}  // namespace tilerail
