#include "study/predict/link_map_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "model/base/csv_cells.hpp"
#include "model/base/files.hpp"
#include "model/base/topology_limits.hpp"

namespace tilerail::study {
namespace {

enum Column { src, dst, latency, bandwidth, with_src, with_dst, slowdown };
constexpr const char* columns[] = {"src", "dst", "latency_s", "bytes_per_s", "with_src", "with_dst", "slowdown"};
constexpr double most_slowdown = 1e6;

std::string header() { return fmt::format("{}", fmt::join(columns, ",")); }

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, const Topology& topology)
      : csv_{text, file}, topology_{topology} {}

  LinkMap read() {
    if (!next_row()) csv_.fail(1, fmt::format("no header; expected '{}'", header()));
    if (csv_.line() != header())
      csv_.fail(1, fmt::format("header '{}'; expected '{}'", excerpt(csv_.line()), header()));
    while (next_row()) {
      cells_ = csv_.cells();
      if (cells_.size() != std::size(columns))
        csv_.fail(1, fmt::format("{} columns; expected {}: {}", cells_.size(), std::size(columns), header()));
      if (cells_[slowdown].text.empty()) {
        read_link();
      } else {
        read_slowdown();
      }
    }
    if (links_.empty()) csv_.fail(1, "no link; expected at least one");
    return {topology_.sources(), links_, slowdowns_};
  }

 private:
  /// False at the end of the file.
  bool next_row() {
    while (csv_.next_line())
      if (!csv_.line().starts_with('#')) return true;
    return false;
  }

  void read_link() {
    for (const Column unused : {with_src, with_dst}) expect_empty(unused, "without a slowdown");
    const MemoryPair pair = pair_of(src, dst);
    if (!known_.insert({pair.src, pair.dst}).second) fail(src, "the second line of this link; expected one");
    const Rate rate{csv_.number(cells_[bandwidth], columns[bandwidth], TopologyLimits::rate.most.value)};
    if (!TopologyLimits::rate.holds(rate)) fail(bandwidth, fmt::format("expected {}", TopologyLimits::rate.text));
    links_.push_back(
        {pair, Seconds{csv_.number(cells_[latency], columns[latency], TopologyLimits::latency.most.value)}, rate});
  }

  void read_slowdown() {
    for (const Column unused : {latency, bandwidth}) expect_empty(unused, "beside a slowdown");
    const MemoryPair of = listed(src, dst), by = listed(with_src, with_dst);
    if (of == by) fail(with_src, "slows itself down; expected another link");
    if (!known_.insert({of.src, of.dst, by.src, by.dst}).second)
      fail(slowdown, "the second slowdown of these two links; expected one");
    const double factor = csv_.number(cells_[slowdown], columns[slowdown], most_slowdown);
    if (factor == 0) fail(slowdown, "expected a number above 0");
    slowdowns_.push_back({of, by, factor});
  }

  MemoryPair listed(Column from, Column to) const {
    const MemoryPair pair = pair_of(from, to);
    if (!known_.contains({pair.src, pair.dst}))
      fail(from, fmt::format("no link to '{}' so far; expected its line above", cells_[to].text));
    return pair;
  }
  MemoryPair pair_of(Column from, Column to) const {
    const MemoryPair pair{memory(from), memory(to)};
    if (pair.src == pair.dst) fail(to, "both ends of a link; expected two memories");
    return pair;
  }
  MemoryId memory(Column column) const {
    const std::span all{topology_.memories().data(), topology_.sources()};
    std::vector<std::string> names;
    for (const Memory& each : all) names.push_back(each.name);
    if (const auto found = std::ranges::find(names, cells_[column].text); found != names.end())
      return MemoryId{static_cast<std::size_t>(std::distance(names.begin(), found))};
    fail(column, fmt::format("no memory of {}; expected one of: {}", topology_.name(), fmt::join(names, ", ")));
  }
  void expect_empty(Column column, const char* when) const {
    if (!cells_[column].text.empty()) fail(column, fmt::format("expected nothing {}", when));
  }
  [[noreturn]] void fail(Column column, const std::string& message) const {
    csv_.fail(cells_[column], fmt::format("{}: '{}': {}", columns[column], excerpt(cells_[column].text), message));
  }

  CsvReader csv_;
  const Topology& topology_;
  std::vector<CsvReader::Cell> cells_;
  std::vector<LinkMap::Link> links_;
  std::vector<LinkMap::Slowdown> slowdowns_;
  std::set<std::vector<MemoryId>> known_;  // ends of links, and of two links with a slowdown
};

}  // namespace

LinkMap read_link_map(const std::string& file, const Topology& topology) {
  const std::string text = read_file(file);
  return Reader{text, file, topology}.read();
}

std::string link_map_csv(const Topology& topology) {
  const LinkMap map{topology};
  std::vector<MemoryPair> links;
  const std::size_t memories = topology.description().memories.size();
  for (std::size_t s = 0; s < memories; ++s)
    for (std::size_t d = 0; d < memories; ++d)
      if (const MemoryPair pair{MemoryId{s}, MemoryId{d}}; s != d && map.has(pair)) links.push_back(pair);
  const auto name = [&](MemoryId memory) { return std::string_view{topology.memory(memory).name}; };
  std::string csv = header() + "\n";
  for (const MemoryPair link : links)
    csv += fmt::format("{},{},{},{},,,\n", name(link.src), name(link.dst), map.latency(link).value,
                       topology.pair_rate(link.src, link.dst).value);
  for (const MemoryPair of : links)
    for (const MemoryPair by : links)
      if (const double factor = map.slowdown(of, by); of != by && factor > 1)
        csv += fmt::format("{},{},,,{},{},{}\n", name(of.src), name(of.dst), name(by.src), name(by.dst), factor);
  return csv;
}

}  // namespace tilerail::study
