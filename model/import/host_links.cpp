#include "model/import/host_links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <numeric>

#include "model/base/indices.hpp"
#include "model/base/topology_limits.hpp"
#include "model/import/assumptions.hpp"

namespace tilerail {
namespace {

using Gpus = std::vector<size_t>;

Rate in_limits(Rate rate) { return std::min(rate, TopologyLimits::rate.most); }

bool are_all_measured(const MeasuredRates* rates) {
  return rates != nullptr && !rates->empty() && std::ranges::all_of(*rates, [](const auto& rate) { return !!rate; });
}

Rate sum_of(const MeasuredRates& rates, const Gpus& gpus) {
  return std::accumulate(gpus.begin(), gpus.end(), Rate{0}, [&](Rate sum, size_t gpu) { return sum + *rates[gpu]; });
}

/// By GPU: how many gaps there are between the rates below its own.
std::vector<int> levels_of(const MeasuredRates& rates) {
  Gpus order(rates.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](size_t a, size_t b) { return *rates[a] < *rates[b]; });
  std::vector<int> levels(rates.size(), 0);
  for (size_t i = 1; i < order.size(); ++i) {
    const bool gap = *rates[order[i]] > *rates[order[i - 1]] * assumptions::equal_shares;
    levels[order[i]] = levels[order[i - 1]] + (gap ? 1 : 0);
  }
  return levels;
}

/// GPUs that get as much as each other, by all of these rates.
std::vector<Gpus> classes_of(std::initializer_list<const MeasuredRates*> all_rates) {
  std::map<std::vector<int>, Gpus> classes;
  std::vector<std::vector<int>> levels((*all_rates.begin())->size());
  for (const MeasuredRates* rates : all_rates) {
    const auto of_rates = levels_of(*rates);
    for (const auto gpu : indices(levels)) levels[gpu].push_back(of_rates[gpu]);
  }
  for (const auto gpu : indices(levels)) classes[levels[gpu]].push_back(gpu);
  std::vector<Gpus> result;
  for (auto& [level, gpus] : classes) result.push_back(std::move(gpus));
  return result;
}

class Load {
 public:
  Load(MachineBuilder& machine, const HostLinks& links, const HostLoad& load, const std::string& source)
      : machine_{machine}, links_{links}, load_{load}, source_{source}, all_(links.in.size()) {
    std::iota(all_.begin(), all_.end(), 0U);
  }

  void add() {
    for (const size_t gpu : all_) add_both_ways(gpu);
    if (all_.size() < 2) return;
    if (are_all_measured(load_.in_all_both) && are_all_measured(load_.out_all_both)) add_all_both_ways();
    add_one_way("host to GPUs", links_.in, links_.in_rate, load_.in_all);
    add_one_way("GPUs to host", links_.out, links_.out_rate, load_.out_all);
  }

 private:
  std::vector<LinkId> of(const std::vector<LinkId>& links, const Gpus& gpus) const {
    std::vector<LinkId> result;
    for (const size_t gpu : gpus) result.push_back(links[gpu]);
    return result;
  }
  std::string name_of(const char* what, const Gpus& gpus) const {
    return gpus.size() == all_.size() ? std::string{what} : fmt::format("{}: {}", what, fmt::join(gpus, ", "));
  }

  void add(CapacityGroup group) {
    group.source = source_;
    machine_.group(std::move(group));
  }

  /// Copies into these GPUs and copies out of them get `in` and `out` in all, of so many copies.
  CapacityGroup both_ways(std::string name, const Gpus& gpus, double copies, Rate in, Rate out) const {
    CapacityGroup group;
    group.name = std::move(name);
    group.forward = of(links_.in, gpus), group.backward = of(links_.out, gpus);
    group.both_busy = CapacityCurve{{{copies, in_limits(in + out)}}};
    if (const double share = in / (in + out); TopologyLimits::forward_share.holds(share)) group.forward_share = share;
    return group;
  }

  std::optional<std::pair<Rate, Rate>> both_of(size_t gpu) const {
    if (load_.in_both == nullptr || load_.out_both == nullptr) return std::nullopt;
    const auto &in = (*load_.in_both)[gpu], &out = (*load_.out_both)[gpu];
    return in && out ? std::optional{std::pair{*in, *out}} : std::nullopt;
  }

  void add_both_ways(size_t gpu) {
    if (const auto both = both_of(gpu))
      add(both_ways(fmt::format("host and gpu{}, both directions", gpu), {gpu}, 2, both->first, both->second));
  }

  void add_all_both_ways() {
    const MeasuredRates &in = *load_.in_all_both, &out = *load_.out_all_both;
    const auto classes = classes_of({&in, &out});
    for (const Gpus& gpus : classes) {
      if (gpus.size() == 1) {
        const Rate sum = sum_of(in, all_) + sum_of(out, all_);
        const size_t gpu = gpus[0];
        add_alone(fmt::format("host to gpu{} beside all GPUs, both directions", gpu), links_.in[gpu],
                  {&links_.in, &links_.out}, *in[gpu], sum, 2);
        add_alone(fmt::format("gpu{} to host beside all GPUs, both directions", gpu), links_.out[gpu],
                  {&links_.in, &links_.out}, *out[gpu], sum, 2);
        continue;
      }
      CapacityGroup group = both_ways(name_of("host, all GPUs both directions", gpus), gpus, 2.0 * double(gpus.size()),
                                      sum_of(in, gpus), sum_of(out, gpus));
      const double share = group.forward_share.value_or(0.5);
      Rate alone{0};  // of one GPU, each direction of which has its share then, too
      for (const size_t gpu : gpus)
        if (const auto both = both_of(gpu)) alone = std::max({alone, both->first / share, both->second / (1 - share)});
      if (alone > Rate{0}) group.both_busy->points.insert(group.both_busy->points.begin(), {2, in_limits(alone)});
      add(group);
    }
  }

  void add_one_way(const char* what, const std::vector<LinkId>& links, const std::vector<Rate>& one,
                   const MeasuredRates* all) {
    if (!are_all_measured(all)) return;
    for (const Gpus& gpus : classes_of({all})) {
      if (gpus.size() == 1) {
        add_alone(fmt::format("{}: {} beside all", what, gpus[0]), links[gpus[0]], {&links}, *(*all)[gpus[0]],
                  sum_of(*all, all_), 1);
        continue;
      }
      Rate alone{0};
      for (const size_t gpu : gpus) alone = std::max(alone, one[gpu]);
      CapacityGroup group;
      group.name = name_of(what, gpus);
      group.forward = of(links, gpus);
      group.capacity = CapacityCurve{{{1, alone}, {double(gpus.size()), in_limits(sum_of(*all, gpus))}}};
      add(group);
    }
  }

  /// While all GPUs have so many copies each, one link gets `rate` of the sum of all. With fewer copies nothing bounds
  /// it.
  void add_alone(std::string name, LinkId own, std::initializer_list<const std::vector<LinkId>*> all, Rate rate,
                 Rate sum, double copies_each) {
    const double copies = copies_each * double(all_.size());
    if (!TopologyLimits::forward_share.holds(rate / sum)) return;
    Rate enough{0};
    for (const size_t gpu : all_) enough += links_.in_rate[gpu] + links_.out_rate[gpu];
    CapacityGroup group;
    group.name = std::move(name);
    group.forward = {own};
    for (const auto* links : all)
      std::ranges::copy_if(*links, std::back_inserter(group.backward), [&](LinkId link) { return link != own; });
    group.both_busy = CapacityCurve{{{copies, in_limits(sum)}}};
    if (copies > 2) group.both_busy->points.insert(group.both_busy->points.begin(), {copies - 1, in_limits(enough)});
    group.forward_share = rate / sum;
    add(group);
  }

  MachineBuilder& machine_;
  const HostLinks& links_;
  const HostLoad& load_;
  const std::string& source_;
  Gpus all_;
};

}  // namespace

void add_host_load(MachineBuilder& machine, const HostLinks& links, const HostLoad& load, const std::string& source) {
  Load{machine, links, load, source}.add();
}

}  // namespace tilerail
