#pragma once

#include <string>
#include <vector>

#include "calibration/measurements.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// A machine description from measurements, for host buffers of one kind of pages
/// (docs/model.md#calibration). Copies that slow each other down share a capacity: the
/// fit finds such groups and assumes none. Throws InputError if a required measurement is
/// missing: a copy to and from each device, and kernel times.
Topology::Description fit_topology(const Measurements& measurements, HostPages pages);

/// Measurements that miss the target accuracy, one sentence each.
std::vector<std::string> missed_targets(const Measurements& measurements);

/// A measurement together with its fitted value.
struct Residual {
  std::string what;
  SampleMean measured;  // B/s of all flows together, or seconds of a kernel
  double fitted = 0;

  double error() const { return fitted / measured.mean - 1; }
};

/// Residuals of simultaneous copies. Runs in which one engine takes copies in turn are
/// omitted, because their order determines their rates.
std::vector<Residual> transfer_residuals(const Measurements& measurements,
                                         HostPages pages, const Topology& topology);
/// Residuals of kernels that ran alone on a device with power to spare.
std::vector<Residual> kernel_residuals(const Measurements& measurements,
                                       const Topology& topology);

}  // namespace tilerail
