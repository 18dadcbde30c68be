#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/matrices.hpp"
#include "plan/plan.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail::api {

/// The device of a matrix; empty: the host.
using Location = std::optional<int>;

/// One matrix of a call: column-major, `rows` x `cols` elements of `element` bytes.
struct Matrix {
  void* data = nullptr;  // null: not used
  int64_t rows = 0, cols = 0, ld = 0, element = 0;
  bool read = false, written = false;
  Location location = {};

  bool used() const { return data != nullptr && rows > 0 && cols > 0; }
  int64_t bytes() const { return used() ? ((cols - 1) * ld + rows) * element : 0; }
};
using Matrices = std::array<Matrix, 3>;  // A, B, C
/// Copies of inputs, one on each GPU (docs/model.md#kept-copies).
struct Copies {
  std::vector<tilerail::Matrices::Copy> a, b;
};
using Pointers = std::array<void*, 3>;

/// A plan that is bound to streams and events; belongs to the lane that bound it.
class BoundPlan {
 public:
  virtual ~BoundPlan() = default;
  /// Sets the scalars of later runs. Each must be zero exactly if the scalar of the
  /// plan's problem is zero.
  virtual void set_scalars(double alpha, double beta) = 0;
};

struct RunSeconds {
  double run = 0, issue = 0;
};

/// Prepares the matrices of one call for copies at full speed, for its lifetime.
class MemoryAccess {
 public:
  virtual ~MemoryAccess() = default;
  /// The addresses at which the plan reads and writes the matrices.
  virtual Pointers pointers() const = 0;
  /// Called after a successful run: stores C at the caller's address.
  virtual void finish() = 0;
};

/// Streams, memory for tiles and issuing threads, for one run after another. Only one
/// thread can use a lane at a time, but runs in several lanes overlap. Members can change
/// the calling thread's current device.
class Lane {
 public:
  virtual ~Lane() = default;

  /// Opens the devices, with `bytes` for tiles and this many streams, and peer access
  /// between them.
  virtual void reserve(std::span<const MemoryId> gpus, int64_t bytes,
                       int compute_streams) = 0;
  /// Throws MemoryShortage if a device has less memory than the plan needs.
  virtual std::unique_ptr<BoundPlan> bind(const Plan& plan) = 0;
  /// Bytes available for tiles on a GPU now, in addition to the needs of
  /// `compute_streams` streams; 0 if it cannot be used.
  virtual int64_t room_for_tiles(MemoryId gpu, int compute_streams) = 0;
  /// Throws MemoryShortage, before anything runs, if the memory that the plan was bound
  /// with is gone.
  virtual RunSeconds run(BoundPlan& plan, const MemoryAccess& matrices,
                         const Copies& copies) = 0;

  /// Submits a run and returns. The run executes after all present work of `stream` (if
  /// null, of the streams of `wait_for_caller`) and after earlier runs of the lane, and
  /// before later work there. Matrices on the host must be page-locked, and stay so if
  /// `access` locks them; the copies live until the run is over. The plan can be
  /// destroyed earlier.
  virtual RunSeconds submit(BoundPlan& plan, void* stream, const MemoryAccess& access,
                            const Matrices& matrices, const Copies& copies) = 0;
  /// Waits for the submitted runs. Throws std::runtime_error if one failed.
  virtual void synchronize() = 0;
  /// Frees the memory for tiles; nothing must run. Later runs allocate it again.
  virtual void free_tiles() = 0;

  /// For a plan that is a single kernel (api/single_gpu.hpp): runs it after the work that
  /// `wait_for_caller` would wait for, as fast as a synchronous library call. The
  /// matrices need no `access`.
  virtual RunSeconds run_single(BoundPlan& plan, void* stream,
                                const Matrices& matrices) = 0;

  /// Access for a run of this plan. `users`: devices that will read or write the
  /// matrices.
  virtual std::unique_ptr<MemoryAccess> access(const BoundPlan& plan,
                                               const Matrices& matrices,
                                               std::span<const int> users,
                                               Pageable pageable) = 0;
};

/// The machine as calls need it. Members are thread-safe; other than `devices` and the
/// constructor's, they can change the calling thread's current device, which
/// `keep_caller_state` restores.
class Hardware {
 public:
  virtual ~Hardware() = default;

  /// Number of CUDA devices.
  virtual int devices() const = 0;
  /// A description of the machine from the properties of its devices.
  virtual Topology describe() const = 0;
  /// A lane for plans on `topology`. Opens no device yet.
  virtual std::unique_ptr<Lane> open_lane(const Topology& topology) = 0;

  virtual std::shared_ptr<void> keep_caller_state() const = 0;
  /// Throws InputError for a stream that is being captured, because runs cannot be
  /// submitted to it. Null is allowed.
  virtual void refuse_captured(void* stream) const = 0;

  virtual Location locate(const void* data) const = 0;
  /// Whether each matrix on the host is page-locked as a whole, and not only for a call.
  virtual bool page_locked(const Matrices& matrices) const = 0;
  /// Waits for the work in `stream` or, if null, in the default streams of the current
  /// device and of the devices with matrices.
  virtual void wait_for_caller(void* stream, const Matrices& matrices) const = 0;
  /// A copy of the matrix on each device, with this leading dimension, as long as it is
  /// referenced; all copies run simultaneously. Throws MemoryShortage.
  virtual std::vector<std::shared_ptr<void>> copies_on(std::span<const int> devices,
                                                       const Matrix& matrix,
                                                       int64_t ld) = 0;
  virtual void register_memory(void* data, int64_t bytes) = 0;
  virtual void unregister_memory(void* data) = 0;

  /// Page-locked memory, valid until it is freed or this object is destroyed.
  virtual void* allocate_host(int64_t bytes, HostPages pages) = 0;
  virtual void free_host(void* data) = 0;
  /// Total rate at which these devices read the memory, in bytes per second.
  virtual double host_rate(const void* data, int64_t bytes,
                           std::span<const int> devices) = 0;
};

/// The CUDA devices of this machine. Throws HardwareError if there are none, or in a
/// build without CUDA.
std::unique_ptr<Hardware> cuda_hardware();

}  // namespace tilerail::api
