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

/// Where a matrix lies: on a device, or on the host.
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
/// Of inputs that each GPU has a copy of (docs/model.md#kept-copies).
struct Copies {
  std::vector<tilerail::Matrices::Copy> a, b;
};
using Pointers = std::array<void*, 3>;

/// A plan that is bound to streams and events; belongs to the hardware that bound it.
class BoundPlan {
 public:
  virtual ~BoundPlan() = default;
  /// Of the next runs. Where a scalar of the plan's problem is 0, so is this; where it is
  /// not, this is not.
  virtual void set_scalars(double alpha, double beta) = 0;
};

struct RunSeconds {
  double run = 0, issue = 0;
};

/// Makes the matrices of one call ready for copies at full speed, for as long as it
/// lives.
class MemoryAccess {
 public:
  virtual ~MemoryAccess() = default;
  /// Where the plan reads and writes the matrices.
  virtual Pointers pointers() const = 0;
  /// The run has succeeded: C is brought to where the caller wants it.
  virtual void finish() = 0;
};

/// What the calls need of the machine. Members other than `devices` and the constructor's
/// may change the calling thread's current device; `keep_caller_state` puts it back.
class Hardware {
 public:
  virtual ~Hardware() = default;

  /// CUDA devices that are there.
  virtual int devices() const = 0;
  /// A description of the machine from the properties of its devices.
  virtual Topology describe() const = 0;
  /// Opens the machine for plans on `topology`; before any of the members below. Opens no
  /// device yet.
  virtual void open(const Topology& topology) = 0;

  virtual std::shared_ptr<void> keep_caller_state() const = 0;
  /// Opens the devices, with so much memory for tiles and so many streams, and their
  /// access to each other.
  virtual void reserve(std::span<const MemoryId> gpus, int64_t bytes,
                       int compute_streams) = 0;
  /// Throws MemoryShortage where a device has less memory than the plan needs.
  virtual std::unique_ptr<BoundPlan> bind(const Plan& plan) = 0;
  /// Bytes that tiles could take on a GPU now, beside what so many compute streams need;
  /// 0 where it cannot be used.
  virtual int64_t room_for_tiles(MemoryId gpu, int compute_streams) = 0;
  /// Throws MemoryShortage, before anything runs, where the memory that the plan was
  /// bound with is gone.
  virtual RunSeconds run(BoundPlan& plan, const MemoryAccess& matrices,
                         const Copies& copies) = 0;

  /// Hands a run over and returns. It comes after all that `stream` holds (when that is
  /// null, after all that the streams of `wait_for_caller` hold) and after earlier runs,
  /// and what is put there next comes after it. Matrices on the host are page-locked, and
  /// stay so where `access` locks them; the copies live until the run is over. The plan
  /// may go before that.
  virtual RunSeconds submit(BoundPlan& plan, void* stream, const MemoryAccess& access,
                            const Matrices& matrices, const Copies& copies) = 0;
  /// Throws InputError for a stream that is being captured, into which no run can be
  /// handed over. Null is none.
  virtual void refuse_captured(void* stream) const = 0;
  /// Waits for the runs that were handed over. Throws std::runtime_error when one failed.
  virtual void synchronize() = 0;

  /// Of a plan that is a single kernel (api/single_gpu.hpp): runs it after the work that
  /// `wait_for_caller` would wait for, as fast as a library call that is waited for. The
  /// matrices need no `access`.
  virtual RunSeconds run_single(BoundPlan& plan, void* stream,
                                const Matrices& matrices) = 0;

  virtual Location locate(const void* data) const = 0;
  /// Whether each of the matrices that lie on the host is page-locked as a whole, and not
  /// for a call only.
  virtual bool page_locked(const Matrices& matrices) const = 0;
  /// Waits for the work in `stream`, or, when it is null, in the default streams of the
  /// current device and of those that hold matrices.
  virtual void wait_for_caller(void* stream, const Matrices& matrices) const = 0;
  /// For a run of this plan. `users`: devices that will read or write the matrices.
  virtual std::unique_ptr<MemoryAccess> access(const BoundPlan& plan,
                                               const Matrices& matrices,
                                               std::span<const int> users,
                                               Pageable pageable) = 0;
  /// A copy of the matrix on each GPU, with this leading dimension, for as long as
  /// someone holds it; all are made at once. Throws MemoryShortage.
  virtual std::vector<std::shared_ptr<void>> copies_on(std::span<const MemoryId> gpus,
                                                       const Matrix& matrix,
                                                       int64_t ld) = 0;
  virtual void register_memory(void* data, int64_t bytes) = 0;
  virtual void unregister_memory(void* data) = 0;

  /// Page-locked memory that lives until it is freed, or as long as this.
  virtual void* allocate_host(int64_t bytes, HostPages pages) = 0;
  virtual void free_host(void* data) = 0;
  /// Bytes a second that these devices read from it together.
  virtual double host_rate(const void* data, int64_t bytes,
                           std::span<const int> devices) = 0;
};

/// The CUDA devices of this machine. Throws HardwareError when there are none, or
/// TileRail was built without CUDA.
std::unique_ptr<Hardware> cuda_hardware();

}  // namespace tilerail::api
