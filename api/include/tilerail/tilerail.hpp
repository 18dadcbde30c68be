#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/host_pages.hpp"
#include "model/problem.hpp"

namespace tilerail {

class Topology;  // model/machine/topology.hpp

namespace api {
class Session;
}

/// The bits of an IEEE binary16 and of a bfloat16: the same memory as __half and
/// __nv_bfloat16.
struct Half {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

/// The data type of a pointer's elements.
constexpr DType dtype_of(const double*) { return DType::f64; }
constexpr DType dtype_of(const float*) { return DType::f32; }
constexpr DType dtype_of(const Half*) { return DType::f16; }
constexpr DType dtype_of(const BFloat16*) { return DType::bf16; }

/// An invalid argument of gemm. `argument` is its position in BLAS's xGEMM: 1 = trans_a
/// ... 13 = ldc.
struct ArgumentError : InputError {
  ArgumentError(int position, const std::string& message)
      : InputError{"", {}, message}, argument{position} {}
  int argument;
};

/// Handling of ordinary (pageable) host memory during a call.
enum class Pageable : uint8_t {
  registered,  // locked for the duration of the call
  staged,      // the driver copies it through its own buffers; it must not be registered,
               // even in part
  copied,      // threads of the call copy it through page-locked slots during the run
               // (docs/model.md#pageable-memory)
};

struct ContextOptions {
  /// A machine description: a file or a name (docs/formats.md#topology). Empty: the value
  /// of the environment variable TILERAIL_TOPOLOGY, else a description made from the
  /// properties of the devices.
  std::string topology;
  std::shared_ptr<const Topology> machine;  // takes precedence over `topology`
  std::vector<int> devices;  // CUDA devices; empty: all devices of the machine that its
                             // description contains
  std::string policy = "tilerail";
  std::vector<std::string>
      overrides;  // of the policy: "key=value" (docs/model.md#policies)
  /// File of plans that `tilerail tune` found for this same description
  /// (docs/formats.md#plan-cache). Empty: the file named by the environment variable
  /// TILERAIL_PLAN_CACHE, if set. A problem without a cached plan is planned by the
  /// estimate alone, within milliseconds.
  std::string plan_cache;
  int64_t arena_bytes =
      0;  // for tiles, allocated when devices are opened; 0: allocated by the first call
  size_t cached_plans = 64;  // the least recently used plan is evicted first
  Pageable pageable = Pageable::registered;
};

/// The origin of the plan of a call.
struct PlanInfo {
  enum class By : uint8_t {
    nothing,    // there was no work, or no alternative
    estimate,   // fastest candidate by a quick estimate; the default for a first call
    simulator,  // simulated, if `effort` or `devices` is overridden
    cache,      // found by `tilerail tune`
  };
  By by = By::nothing;
  std::string why;   // a sentence; also why a cached plan was not used, and which memory
                     // was short
  std::string hash;  // of the plan, as printed by the command
  int64_t tile = 0;  // T
  std::vector<int> devices;  // CUDA devices of the plan
  size_t operations = 0;
};

/// Times of the parts of one call, in seconds.
struct GemmTimes {
  bool planned = false;  // the call had to plan and to bind its plan, because none was
                         // cached
  double plan = 0;       // planning and binding
  double memory =
      0;  // locking and unlocking pageable memory; copies by threads are part of `run`
  double run = 0;    // copies and kernels, until the result was stored
  double issue = 0;  // part of `run`: submitting operations to the devices, on the
                     // slowest thread
  /// The call returned after submission, before C is complete; `run` ends then.
  bool handed_over = false;
};

struct GemmOptions {
  /// The cudaStream_t whose earlier work precedes the call. Null: the legacy default
  /// streams of the current device and of the devices that hold the matrices.
  void* stream = nullptr;
  bool tf32 = false;  // float only: multiply with the mantissas of TF32
  /// False: the call returns when its work is submitted to the devices. C is complete for
  /// later work in `stream` (or in those default streams), for later calls of this
  /// thread, and on return from the next synchronous call of this thread or from
  /// `synchronize`; until then matrices and kept copies must not change. Limit: if a
  /// matrix is in host memory that is not page-locked, or there is no work, the call is
  /// synchronous. docs/model.md#calls-that-do-not-wait
  bool wait = true;
  GemmTimes* times = nullptr;  // filled in if not null
  PlanInfo* plan = nullptr;    // filled in if not null
};

/// The arguments of xGEMM, in the order of BLAS.
struct GemmArguments {
  DType dtype = DType::f64;
  char trans_a = 'N', trans_b = 'N';
  int64_t m = 0, n = 0, k = 0;
  double alpha = 1;
  const void* a = nullptr;
  int64_t lda = 0;
  const void* b = nullptr;
  int64_t ldb = 0;
  double beta = 0;
  void* c = nullptr;
  int64_t ldc = 0;
};

/// GPUs, a description of their machine, a policy, and the cached plans. Movable.
///
/// Thread safety: several threads can call all members and `gemm` simultaneously, except
/// moves and the destructor. Calls of different threads overlap, in planning and, for up
/// to four runs and as far as device memory suffices, on the devices; the others wait for
/// a run to end. Their order is undefined except by streams: an asynchronous call runs
/// after all work submitted to its stream before. Calls of one thread run in their order.
/// Threads that first call the same problem simultaneously share one plan. Setters affect
/// calls that begin later. `synchronize`, `keep`, `release`, `reserve`,
/// `unregister_memory` and `free_host` wait for all runs of the context that have begun.
/// A failed call affects no call of another thread.
/// docs/model.md#calls-of-several-threads
class Context {
 public:
  /// Throws HardwareError without CUDA devices or if a device does not exist,
  /// InputError if an option is invalid.
  explicit Context(const ContextOptions& options = {});
  /// Uses the caller's hardware (api/hardware.hpp).
  explicit Context(std::unique_ptr<api::Session> session);
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  /// The setters throw InputError; the context then does not change.
  void set_policy(const std::string& name);          // a preset, without overrides
  void set_override(const std::string& assignment);  // "key=value", on top of the policy
  void set_tile(int64_t tile);                       // 0: chosen for each problem
  void set_devices(const std::vector<int>& devices);
  void set_pageable(Pageable pageable);
  /// Later calls take their plans from this file if it contains them; "": no file. Drops
  /// cached plans.
  void set_plan_cache(const std::string& file);

  /// Page-locks host memory until `unregister_memory` or the end of the context, so that
  /// calls need not. Throws InputError if `data` is null or `bytes` is not positive,
  /// std::runtime_error if the driver refuses.
  void register_memory(void* data, int64_t bytes);
  /// Throws InputError for memory that was not passed to `register_memory`.
  void unregister_memory(void* data);

  /// Allocates page-locked host memory, the fastest for copies
  /// (docs/model.md#host-buffers), until `free_host` or the end of the context. Throws
  /// InputError if `bytes` is not positive or cannot be locked.
  void* allocate_host(int64_t bytes, HostPages pages = HostPages::spread);
  /// Throws InputError for memory that `allocate_host` did not return.
  void free_host(void* data);
  /// Total rate at which the context's devices read from page-locked memory, in bytes per
  /// second, measured in about 30 ms: shows which kind of pages a caller's buffer has.
  /// Throws InputError if `data` is null or `bytes` is not positive, std::runtime_error
  /// if the driver refuses.
  double host_rate(const void* data, int64_t bytes);

  /// Opens the devices, with at least `bytes` for tiles on each, and peer access between
  /// them, so that the first call need not. Throws InputError if a device lacks the
  /// memory.
  void reserve(int64_t bytes);

  /// Copies an input of several products to each device of the context, now. Until
  /// `release`, products that read it, or a part of it with the same leading dimension,
  /// as A or B use the copies, so that it crosses no link; if C's GPU has both inputs, it
  /// reads them there. Earlier writes to it must have ended, except in default streams.
  /// Kept data must not change: after a change call `keep` again, which replaces the
  /// copies; before freeing it call `release`, otherwise later data at the same address
  /// is mistaken for it. The copies take the same amount of memory on each device. If
  /// `set_devices` selects devices without a copy, the original is read. Throws
  /// InputError if the shape is invalid or a device has too little memory: then it is not
  /// kept. gemm throws InputError if C overlaps it. docs/model.md#kept-copies
  template <class Element>
  void keep(const Element* data, int64_t rows, int64_t cols, int64_t ld) {
    keep(dtype_of(data), data, rows, cols, ld);
  }
  void keep(DType dtype, const void* data, int64_t rows, int64_t cols, int64_t ld);
  /// Throws InputError for an address that is not kept.
  void release(const void* data);

  /// Waits for the asynchronous calls (GemmOptions::wait) of all threads. Throws
  /// std::runtime_error if one of them failed.
  void synchronize();

  std::string topology_name() const;
  std::vector<int> devices() const;
  std::string policy() const;  // preset, then "+key=value" for every override
  size_t cached_plans() const;

  api::Session& session() { return *session_; }

 private:
  std::unique_ptr<api::Session> session_;
};

/// C = alpha op(A) op(B) + beta C, column-major, arguments in the order of BLAS. op(A) is
/// m x k, op(B) is k x n, C is m x n; trans is 'N', 'T' or 'C' (either case; 'C' means
/// 'T'). Each matrix must lie completely in host memory (pageable, registered, pinned or
/// managed) or on one GPU of the machine description (cudaMalloc or a stream-ordered
/// pool, to which participating GPUs get access). As in BLAS, A and B are not read if
/// alpha or k is 0, C is not read if beta is 0, and nothing is done if m or n is 0. C
/// must not overlap A or B. Halves are multiplied with f32 accumulation; C is rounded to
/// the halves after each tile of k. If all matrices lie on one GPU, the call is one
/// kernel there unless several GPUs are certainly faster
/// (docs/model.md#calls-on-one-gpu). If devices have less free memory than described, the
/// plan adapts to it. Returns when C is complete, or as set by GemmOptions::wait; the
/// current device does not change. Throws ArgumentError, InputError if a matrix lies in
/// memory that the machine description lacks or no plan fits into the free memory,
/// HardwareError, std::runtime_error naming the failed operation; C is then unspecified,
/// the context usable.
void gemm(Context& context, const GemmArguments& arguments,
          const GemmOptions& options = {});

/// The same for double, float, Half or BFloat16. Scalars are double for double, and float
/// for all other types.
template <class Element, class Scalar = std::conditional_t<
                             std::is_same_v<Element, double>, double, float>>
void gemm(Context& context, char trans_a, char trans_b, int64_t m, int64_t n, int64_t k,
          std::type_identity_t<Scalar> alpha, const std::type_identity_t<Element>* a,
          int64_t lda, const std::type_identity_t<Element>* b, int64_t ldb,
          std::type_identity_t<Scalar> beta, Element* c, int64_t ldc,
          const GemmOptions& options = {}) {
  gemm(context,
       {dtype_of(c), trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc},
       options);
}

}  // namespace tilerail
