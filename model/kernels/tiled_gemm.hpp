#pragma once

#include <optional>
#include <vector>

#include "model/base/units.hpp"

namespace tilerail {

/// Model of a library's GEMMs of one dtype on a GPU: each thread block computes rows x
/// cols of C, one block per multiprocessor runs concurrently, and several blocks may
/// share k. Measured times of single shapes correct the rule near them.
/// docs/model.md#tiled-gemms
struct TiledGemm {
  struct Block {
    double rows, cols;
    double efficiency;  // of the peak, in (0, 1]
  };
  struct Shape {
    double m, n, k;
    Seconds time;
    std::optional<Seconds> issue = {};  // host time to submit it
  };

  Seconds launch{0};     // fixed cost of a kernel
  FlopRate peak{0};      // of all multiprocessors
  double fill = 0;       // of the k loop, in units of k
  Seconds reduction{0};  // fixed cost of adding the parts of a split k
  /// Share of the device that a GEMM with a side x side result occupies: its marginal
  /// time among many concurrent GEMMs, relative to its time alone.
  struct Fill {
    double side;
    double share;  // in (0, 1]
  };

  std::vector<Block> blocks;
  std::vector<Shape> shapes;
  std::vector<Fill> fills;  // by side, ascending; empty: occupancy of the rule's blocks
  /// Differences in a graph, in which streams cause no latency between kernels: the time
  /// that a GEMM with a side x side result saves, and the share of the device that it
  /// occupies.
  struct InGraph {
    double side;
    Seconds gain;
    double share;  // in (0, 1]
  };
  std::vector<InGraph> in_graph;  // by side, ascending; empty: no differences

  struct Cost {
    Seconds time;
    double occupancy;  // share of the device that its work occupies, in (0, 1]; the rest
                       // is launch and partly filled waves
  };
  /// The m x n x k of a GEMM, all at least 1.
  struct Size {
    double m, n, k;
  };
  /// A device with its memory rate, and the bytes of an element.
  struct Device {
    double multiprocessors, element;
    Rate memory;
  };
  Cost cost(const Size& size, const Device& device) const;
  /// The same in a graph.
  Cost cost_in_graph(const Size& size, const Device& device) const;
  /// The cost without the correction by measured shapes.
  Cost uncorrected(const Size& size, const Device& device) const;

  /// Time to submit such a GEMM, from the measured shapes: the library may launch one
  /// kernel or two, and may create operand descriptors on the device. Absent if no shape
  /// has it. docs/model.md#issue
  std::optional<Seconds> issue(const Size& size) const;

  /// Upper limit of the rate of kernels, alone or concurrent: the rate of the best block
  /// or of the fastest measured shape.
  FlopRate fastest() const;
  /// Upper limit of their memory rate, with each operand of `element` bytes per element
  /// counted once: `memory`, or the highest rate of a measured shape.
  Rate fastest_memory(double element, Rate memory) const;
  /// Maximum speedup of kernels over the rule near measured shapes.
  double fastest_correction(const Device& device) const;

  /// Proximity of the measured shapes, in [0, 1]: 1 if this shape was measured, 0 if no
  /// shape has influence.
  double nearness(const Size& size) const;
};

}  // namespace tilerail
