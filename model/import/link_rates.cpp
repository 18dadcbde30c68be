#include "model/import/link_rates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/link_values.hpp"

namespace tilerail {

std::vector<std::string_view> xgmi_architectures() {
  std::vector<std::string_view> names;
  for (const auto& [name, rate] : assumptions::xgmi_links) names.push_back(name);
  return names;
}

LinkUnit LinkRates::nvlink(const std::string& sm) {
  const Rate nominal = nvlink_of(sm);
  return unit(
      sm.empty() ? "NVLink" : nvlink_source + sm, nominal * assumptions::reached, Source::Kind::assumed,
      fmt::format("one NVLink has {} in one direction, nominal ({}), of which {} is reached, as by an H200",
                  to_text(nominal), sm.empty() ? "the file has no sm: generation 2 to 4" : fmt::format("sm {}", sm),
                  assumptions::reached));
}

std::optional<LinkUnit> LinkRates::xgmi(const std::string& architecture) {
  const auto known =
      std::ranges::find(assumptions::xgmi_links, architecture, [](const auto& row) { return row.first; });
  const bool is_known = known != assumptions::xgmi_links.end();
  if (!is_known && !given_) return std::nullopt;
  return unit(architecture.empty() ? "xGMI" : xgmi_source + architecture, is_known ? known->second : *given_,
              Source::Kind::published,
              "one xGMI link of this GPU has this rate in one direction, as RCCL counts it (ncclTopoXGMISpeed in its "
              "src/graph/topo.h)");
}

LinkUnit LinkRates::unit(const std::string& key, Rate rate, Source::Kind kind, const std::string& text) {
  if (given_)
    sources_[key] = {key, Source::Kind::assumed,
                     fmt::format("one link has {}, as given to the import", to_text(*given_))};
  else
    sources_[key] = {key, kind, text};
  return {given_.value_or(rate), key};
}

std::vector<Source> LinkRates::sources() const {
  std::vector<Source> sources;
  for (const auto& [key, source] : sources_) sources.push_back(source);
  return sources;
}

}  // namespace tilerail
