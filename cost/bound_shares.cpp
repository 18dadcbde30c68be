// What devices can do in a time, and what their shares of the work touch: the rows of BoundProgram for each device.
#include <algorithm>
#include <cmath>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

}  // namespace

/// It computes where it is known how fast; a plan that may choose leaves others out.
BoundProgram::Device BoundProgram::device_of(MemoryId memory) const {
  const KernelTimes& kernels = topology_.kernels_of(memory);
  Device device{};
  device.computes = !product_ || problem_.routine == Routine::axpy ||
                    kernels.knows(problem_.dtype, problem_.trans_a, problem_.trans_b);
  if (!device.computes) return device;
  device.limits = kernel_limits(kernels, problem_);
  device.idle = idle(memory) / unit_seconds_;
  if (device.limits.rate) device.all = problem_.flops() / *device.limits.rate / Seconds{unit_seconds_};
  return device;
}

/// Every multiplication is somebody's. An element of A takes part in n of them, one of B in m, one of C in k: a share
/// w of the multiplications touches a share w of each matrix at least.
void BoundProgram::add_shares() {
  Terms all;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    Device& device = device_.emplace_back(device_of(devices_[d]));
    device.share = program_.add_variable(0, device.computes ? 1 : 0);
    all.push_back({device.share, 1});
    for (std::size_t matrix = 0; matrix < 3; ++matrix) {
      device.holds[matrix] = program_.add_variable(0, size_[matrix]);
      program_.add_row(0, unlimited, {{device.holds[matrix], 1}, {device.share, -size_[matrix]}});
    }
    device.reuse = add_reuse(device.holds, {d});
  }
  program_.add_row(1, 1, all);
}

std::vector<std::size_t> BoundProgram::add_reuse(const std::array<std::size_t, 3>& touches,
                                                 const std::vector<std::size_t>& devices) {
  std::vector<std::size_t> rows;
  if (!product_ || !problem_.has_b()) return rows;
  Terms terms;
  for (const std::size_t touched : touches) terms.push_back({touched, 1});
  for (const std::size_t d : devices) terms.push_back({device_[d].share, -1});
  const std::size_t count = devices.size() == 1 ? shapes.size() : island_sides.size() * island_sides.size();
  for (std::size_t row = 0; row < count; ++row) rows.push_back(program_.add_row(0, unlimited, terms));
  return rows;
}

void BoundProgram::set_reuse() {
  const auto most = [&](std::size_t d) { return device_[d].computes ? work(device_[d]) / device_[d].all : 0; };
  for (std::size_t d = 0; d < devices_.size(); ++d) set_reuse(most(d), device_[d].holds, device_[d].reuse, {d});
  for (const Island& island : islands_) {
    double share = 0;
    for (const std::size_t d : island.devices) share += most(d);
    set_reuse(share, island.touches, island.reuse, island.devices);
  }
}

/// Loomis and Whitney: a share w of the multiplications touches shares x, y, z of A, B, C with x y z >= w^2, hence
///   x / x0 + y / y0 + z / z0 >= 3 (w / W)   for any x0 y0 z0 = W^2 and w <= W
/// (the means' inequality, and (w / W)^(2/3) >= w / W). W is what the devices could multiply in T.
void BoundProgram::set_reuse(double share, const std::array<std::size_t, 3>& touches,
                             const std::vector<std::size_t>& rows, const std::vector<std::size_t>& devices) {
  const double most = std::clamp(share, 1e-6, 1.0);
  for (std::size_t s = 0; s < rows.size(); ++s) {
    double x = std::clamp(std::sqrt(most) * shapes[s % shapes.size()], most, 1.0), y = most / x;  // z = W: k in one
    if (devices.size() > 1) x = island_sides[s / island_sides.size()], y = island_sides[s % island_sides.size()];
    program_.set_coefficient(rows[s], touches[a], 1 / (x * size_[a]));
    program_.set_coefficient(rows[s], touches[b], 1 / (y * size_[b]));
    program_.set_coefficient(rows[s], touches[c], x * y / (most * most * size_[c]));
    for (const std::size_t d : devices) program_.set_coefficient(rows[s], device_[d].share, -3 / most);
  }
}

}  // namespace tilerail
