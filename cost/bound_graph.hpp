#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The links that copies between some memories can take, whatever their routes: vertices are the nodes of the machine.
class BoundGraph {
 public:
  struct Link {
    LinkId id;
    size_t from, to;  // nodes
  };

  /// Links of memories other than these are left out.
  BoundGraph(const Topology& topology, std::span<const MemoryId> memories);

  const std::vector<Link>& links() const { return links_; }  // of their places the functions below speak
  size_t nodes() const { return out_.size(); }
  const std::vector<size_t>& out_of(size_t node) const { return out_[node]; }
  const std::vector<size_t>& into(size_t node) const { return in_[node]; }
  bool is_switch(size_t node) const { return is_switch_[node]; }

  /// What can leave a node, or enter it, at most.
  struct End {
    size_t node;
    double most;
  };
  struct Cut {
    double value = 0;
    std::vector<size_t> links;  // from the side of the sources to that of the sinks
    std::vector<bool> inside;   // by node: whether it is on the side of the sinks
  };
  /// Of the sets of nodes whose links from outside, sources inside and sinks outside sum to the least. Values below
  /// 10^-10 count as 0.
  Cut least_cut(const std::vector<double>& capacity, std::span<const End> sources, std::span<const End> sinks) const;

  /// By node: the least sum of latencies from a node, or with `back` to it, over any links; infinite where no way is.
  std::vector<double> latencies(size_t node, bool back) const;

  /// Rate of one copy at most: on any ways through switches, with `per_flow` on each link.
  double copy_rate(std::span<const size_t> from, std::span<const size_t> to) const;
  /// Whether one way through switches may take a link and later the other.
  bool in_one_way(size_t first, size_t then) const;

 private:
  const Topology& topology_;
  std::vector<Link> links_;
  std::vector<bool> is_switch_;
  std::vector<std::vector<size_t>> out_, in_;
};

}  // namespace tilerail
