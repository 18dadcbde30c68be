#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "calibration/fit_parts.hpp"
#include "model/base/error.hpp"
#include "model/published/transfer_time.hpp"

namespace tilerail::fit {
namespace {

constexpr const char* peer_switch = "peer-switch";

/// The run of the largest copies.
const TransferRun& steadiest(const Transfers& runs) {
  return **std::ranges::max_element(runs, {}, &TransferRun::copy_bytes);
}

class Links {
 public:
  explicit Links(Context& context) : context_{context}, d_{context.description} {}

  void fit() {
    const Seconds to = role_latency(host, context_.device(0)),
                  from = role_latency(context_.device(0), host);
    for (const auto& device : context_.measurements.devices) {
      add(host, device.name, bandwidth(host, device.name, to), to);
      add(device.name, host, bandwidth(device.name, host, from), from);
    }
    fit_peers();
    set_engines();
  }

 private:
  Seconds role_latency(const std::string& src, const std::string& dst) const {
    // Sizes were varied on one kind of pages; the latency does not depend on pages.
    for (const HostPages pages : {context_.pages, HostPages::spread}) {
      const auto runs = Context{context_.measurements, pages, d_}.pairs(src, dst);
      if (const Seconds latency = runs.empty() ? Seconds{} : copy_cost(runs).latency;
          latency > Seconds{0})
        return latency;
    }
    return Seconds{0};
  }

  Rate bandwidth(const std::string& src, const std::string& dst, Seconds latency) const {
    const auto runs = context_.pairs(src, dst);
    if (runs.empty())
      throw fault_of("measurements", fmt::format("no copy from {} to {}", src, dst),
                     "a run of kind 'pair'");
    const CopyCost cost = copy_cost(runs);
    if (cost.latency > Seconds{0}) return cost.bandwidth;
    const TransferRun& run = steadiest(runs);
    return without_latency(Rate{run.flows[0].rate.mean}, Bytes{run.copy_bytes}, latency);
  }

  void add(const std::string& from, const std::string& to, Rate bandwidth,
           Seconds latency, std::optional<Rate> per_flow = {}) {
    d_.links.push_back({"", vertex_of(d_, from), vertex_of(d_, to), bandwidth, latency,
                        per_flow, "copies"});
  }

  /// If all devices reach each other at one rate, and several copies into a device are as
  /// slow as one, a switch with limited ports joins the devices. Otherwise each pair has
  /// a link.
  void fit_peers() {
    std::optional<Seconds> latency;
    std::vector<Pair> pairs;
    for (size_t i = 0; i < context_.devices(); ++i)
      for (size_t j = 0; j < context_.devices(); ++j) {
        const std::string &from = context_.device(i), &to = context_.device(j);
        const auto runs = context_.pairs(from, to);
        if (i == j || runs.empty()) continue;
        if (!latency) latency = copy_cost(runs).latency;
        pairs.push_back({from, to, bandwidth(from, to, *latency)});
      }
    if (pairs.empty()) return;
    Rate into, each;  // several copies together; one copy on average
    for (const TransferRun* run : context_.runs({"fan in"}))
      into = std::max(into, Rate{run->total.mean});
    for (const Pair& pair : pairs) each += pair.bandwidth / double(pairs.size());
    const bool all = pairs.size() == context_.devices() * (context_.devices() - 1);
    if (all && into > Rate{0} && into < 1.5 * each && are_alike(pairs))
      return add_switch(into, each, *latency);
    for (const Pair& pair : pairs) add(pair.from, pair.to, pair.bandwidth, *latency);
  }

  struct Pair {
    std::string from, to;
    Rate bandwidth;
  };

  static bool are_alike(const std::vector<Pair>& pairs) {
    const auto [least, most] = std::ranges::minmax_element(pairs, {}, &Pair::bandwidth);
    return most->bandwidth < 1.1 * least->bandwidth;
  }

  /// `into`: the rate of several copies into one device; `each`: the rate of one copy.
  void add_switch(Rate into, Rate each, Seconds latency) {
    d_.vertices.push_back({peer_switch, VertexKind::network_switch, "copies"});
    const Rate port = std::max(into, each);
    const std::optional<Rate> per_flow = port > each ? std::optional{each} : std::nullopt;
    for (size_t i = 0; i < context_.devices(); ++i) {
      add(context_.device(i), peer_switch, each, latency / 2);
      add(peer_switch, context_.device(i), port, latency / 2, per_flow);
    }
  }

  /// Engines of a role, from two simultaneous copies: if the second takes about twice as
  /// long as the first, one engine runs both in turn.
  std::optional<int> engines(bool (*of_role)(const TransferRun& run)) const {
    for (const TransferRun* run : context_.runs({"one each"})) {
      if (!of_role(*run)) continue;
      const auto [slow, fast] = std::ranges::minmax(
          run->flows, {}, [](const auto& flow) { return flow.rate.mean; });
      if (fast.rate.mean > 1.6 * slow.rate.mean) return 1;
    }
    return std::nullopt;
  }

  /// One device was measured for each role. All devices are of the same model and get the
  /// same engines.
  void set_engines() {
    Engines of_role;
    of_role.h2d = engines([](const TransferRun& r) { return r.flows[0].src == host; });
    of_role.d2h = engines([](const TransferRun& r) { return r.flows[0].dst == host; });
    of_role.peer = engines([](const TransferRun& r) {
      return r.flows[0].src != host && r.flows[0].dst != host &&
             r.flows[0].src == r.flows.back().src;
    });
    for (Memory& memory : d_.memories)
      if (memory.kind == VertexKind::gpu) memory.processor->engines = of_role;
  }

  Context& context_;
  Topology::Description& d_;
};

}  // namespace

/// Minimises sum over runs of ((latency + bytes / bandwidth) / time - 1)^2.
CopyCost copy_cost(const Transfers& runs) {
  std::vector<TransferSample> samples;
  for (const TransferRun* run : runs) {
    const Bytes bytes{run->copy_bytes};
    samples.push_back({bytes, bytes / Rate{run->flows[0].rate.mean}});
  }
  const auto line = fit_transfer_line(samples);
  return line ? CopyCost{line->latency, inverse(line->per_byte)}
              : CopyCost{Seconds{0}, Rate{steadiest(runs).flows[0].rate.mean}};
}

void fit_links(Context& context) { Links{context}.fit(); }

}  // namespace tilerail::fit
