#pragma once

#include <string>
#include <vector>

#include "calibration/measurements.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// A machine description from what was measured, for host buffers of one kind of pages (docs/model.md#calibration).
/// Which copies share a capacity is found from how they slow each other down, not assumed. Throws InputError when a
/// measurement that is needed is missing: a copy to and from each device, and kernel times.
Topology::Description fit_topology(const Measurements& measurements, HostPages pages);

/// A measurement beside what the description says.
struct Residual {
  std::string what;
  double measured = 0, fitted = 0;  // B/s of all flows together, or seconds of a kernel

  double error() const { return fitted / measured - 1; }
};

/// Runs of copies at the same time, as far as their rates are decided by sharing and not by the order in which one
/// engine takes them.
std::vector<Residual> transfer_residuals(const Measurements& measurements, HostPages pages, const Topology& topology);
/// Kernels that ran alone on a device with power to spare.
std::vector<Residual> kernel_residuals(const Measurements& measurements, const Topology& topology);

}  // namespace tilerail
