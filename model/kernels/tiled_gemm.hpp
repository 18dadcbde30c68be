#pragma once

#include <optional>
#include <vector>

#include "model/base/units.hpp"

namespace tilerail {

/// How a library runs GEMMs of one dtype on a GPU: each thread block computes rows x cols
/// of C, as many blocks run at once as there are multiprocessors, and several blocks may
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
    std::optional<Seconds> issue = {};  // of a host thread that hands it over
  };

  Seconds launch{0};     // fixed cost of a kernel
  FlopRate peak{0};      // of all multiprocessors
  double fill = 0;       // of the k loop, in units of k
  Seconds reduction{0};  // fixed cost of adding the parts of a split k
  /// How much of the device a GEMM takes whose result is side x side: what it adds to the
  /// time of many side by side, over its time alone.
  struct Fill {
    double side;
    double share;  // in (0, 1]
  };

  std::vector<Block> blocks;
  std::vector<Shape> shapes;
  std::vector<Fill> fills;  // by side, ascending; empty: what the blocks of the rule take
  /// What is different in a graph, where no stream hands kernels on: by how much a GEMM
  /// whose result is side x side is shorter, and the share of the device that it takes
  /// then.
  struct InGraph {
    double side;
    Seconds gain;
    double share;  // in (0, 1]
  };
  std::vector<InGraph> in_graph;  // by side, ascending; empty: nothing is

  struct Cost {
    Seconds time;
    double occupancy;  // share of the device that its work takes, in (0, 1]: the rest is
                       // launch, and waves that are not full
  };
  /// The m x n x k of a GEMM, all at least 1.
  struct Size {
    double m, n, k;
  };
  /// A device whose elements have so many bytes, and its memory.
  struct Device {
    double multiprocessors, element;
    Rate memory;
  };
  Cost cost(const Size& size, const Device& device) const;
  /// The same in a graph.
  Cost cost_in_graph(const Size& size, const Device& device) const;
  /// Without the correction by measured shapes.
  Cost uncorrected(const Size& size, const Device& device) const;

  /// What handing over such a GEMM costs, by the measured shapes: the library may need
  /// one kernel or two, and may have to describe operands to the device. Absent where no
  /// shape has that. docs/model.md#issue
  std::optional<Seconds> issue(const Size& size) const;

  /// The rate that kernels do not exceed, alone or side by side: that of the best block,
  /// or of the fastest measured shape, if that is larger.
  FlopRate fastest() const;
  /// Nor this one of the bytes that they read and write, elements of `element` bytes,
  /// each operand once: `memory`, or that of the measured shape that reads and writes the
  /// most.
  Rate fastest_memory(double element, Rate memory) const;
  /// How many times as fast as the rule kernels can be near some shape.
  double fastest_correction(const Device& device) const;

  /// How near the measured shapes are to this one, in [0, 1]: 1 where it is among them, 0
  /// where none counts.
  double nearness(const Size& size) const;
};

}  // namespace tilerail
