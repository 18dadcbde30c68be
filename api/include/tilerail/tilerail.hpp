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

/// IEEE binary16 and bfloat16 by their bits: the same memory as __half and __nv_bfloat16.
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

/// An argument of gemm that is not legal. `argument` is its position in BLAS's xGEMM: 1 =
/// trans_a ... 13 = ldc.
struct ArgumentError : InputError {
  ArgumentError(int position, const std::string& message)
      : InputError{message}, argument{position} {}
  int argument;
};

/// What happens to ordinary (pageable) host memory during a call.
enum class Pageable : uint8_t {
  registered,  // locked for the duration of the call
  staged,  // left alone: the driver copies it through buffers of its own; no part of it
           // may be registered
  copied,  // threads of the call copy it through page-locked slots beside the run
           // (docs/model.md#pageable-memory)
};

struct ContextOptions {
  /// A machine description: a file or a name (docs/formats.md#topology). Empty: what the
  /// environment variable TILERAIL_TOPOLOGY says, else a description made from the
  /// properties of the devices.
  std::string topology;
  std::shared_ptr<const Topology> machine;  // goes before `topology` where it is given
  std::vector<int>
      devices;  // CUDA devices; empty: all that the machine and its description have
  std::string policy = "tilerail";
  std::vector<std::string>
      overrides;  // of the policy: "key=value" (docs/model.md#policies)
  /// Plans that `tilerail tune` found for this very description
  /// (docs/formats.md#plan-cache). Empty: the file that the environment variable
  /// TILERAIL_PLAN_CACHE names, if it does. A problem that it does not have is planned by
  /// the estimate alone, within milliseconds.
  std::string plan_cache;
  int64_t arena_bytes =
      0;  // for tiles: devices are opened with so much right away; 0: by the first call
  size_t cached_plans = 64;  // the plan used longest ago goes first
  Pageable pageable = Pageable::registered;
};

/// Where the plan of a call comes from.
struct PlanInfo {
  enum class By : uint8_t {
    nothing,    // there was no work, or nothing to choose between
    estimate,   // the fastest of some by a quick estimate: what a first call has time for
    simulator,  // simulated: where `effort` or `devices` is overridden
    cache,      // found by `tilerail tune`
  };
  By by = By::nothing;
  std::string why;   // in a sentence; also why a cached plan was not taken, and what
                     // memory was short
  std::string hash;  // of the plan, as the command prints it
  int64_t tile = 0;  // T
  std::vector<int> devices;  // CUDA devices that take part
  size_t operations = 0;
};

/// Seconds that the parts of one call took.
struct GemmTimes {
  bool planned = false;  // the call had to plan and to bind its plan: none was cached
  double plan = 0;       // planning and binding
  double memory =
      0;  // locking and unlocking pageable memory; copies by threads are part of the run
  double run = 0;    // copies and kernels, until the result was in place
  double issue = 0;  // of the run: handing operations to the devices, on the thread that
                     // took longest
  /// The call returned when all was handed over, before C is complete; `run` is until
  /// then.
  bool handed_over = false;
};

struct GemmOptions {
  /// The cudaStream_t after whose work the call reads its matrices. Null: the legacy
  /// default streams of the current device and of the devices that hold the matrices.
  void* stream = nullptr;
  bool tf32 = false;  // float only: multiply with the mantissas of TF32
  /// False: the call returns when its work is handed over to the devices. C is complete
  /// for what is put into `stream` (into those default streams) after the call, and at
  /// the next call that waits; until then matrices and kept copies stay as they are.
  /// Calls run one after another. Where a matrix is in host memory that is not
  /// page-locked, and where there is no work, the call is as ever.
  /// docs/model.md#calls-that-do-not-wait
  bool wait = true;
  GemmTimes* times = nullptr;  // filled in when given
  PlanInfo* plan = nullptr;    // the same
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

/// GPUs, a description of their machine, a policy, and the plans made so far. Calls from
/// several threads are safe and run one after another. Movable.
class Context {
 public:
  /// Throws HardwareError when there is no CUDA device or a device is not there,
  /// InputError when an option is not legal.
  explicit Context(const ContextOptions& options = {});
  /// On hardware of the caller's (api/hardware.hpp).
  explicit Context(std::unique_ptr<api::Session> session);
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  /// Throw InputError; the context is then as it was.
  void set_policy(const std::string& name);          // a preset, without overrides
  void set_override(const std::string& assignment);  // "key=value", on top of the policy
  void set_tile(int64_t tile);                       // 0: chosen for each problem
  void set_devices(const std::vector<int>& devices);
  void set_pageable(Pageable pageable);
  /// Plans of later calls come from this file where it has them; "": from none. Plans
  /// that are held are made again.
  void set_plan_cache(const std::string& file);

  /// Locks host memory until `unregister_memory` or the end of the context, so that calls
  /// need not. Throws InputError when `data` is null or `bytes` is not positive,
  /// std::runtime_error when the driver refuses.
  void register_memory(void* data, int64_t bytes);
  /// Throws InputError for what was not given to `register_memory`.
  void unregister_memory(void* data);

  /// Page-locked host memory that copies run fastest from and to
  /// (docs/model.md#host-buffers), until `free_host` or the end of the context. Throws
  /// InputError when `bytes` is not positive or so much cannot be locked.
  void* allocate_host(int64_t bytes, HostPages pages = HostPages::spread);
  /// Throws InputError for what `allocate_host` did not return.
  void free_host(void* data);
  /// Bytes a second that the context's devices together read from page-locked memory, in
  /// some 30 ms: tells which kind of pages a buffer of the caller's has. Throws
  /// InputError when `data` is null or `bytes` is not positive, std::runtime_error when
  /// the driver refuses.
  double host_rate(const void* data, int64_t bytes);

  /// Opens the devices, with at least so many bytes for tiles on each, and their access
  /// to each other, so that the first call need not. Throws InputError when a device
  /// lacks them.
  void reserve(int64_t bytes);

  /// For products in sequence that share an input: copies it to each device of the
  /// context, now. Until `release`, products that read it as A or B, or a part of it
  /// (with the same leading dimension), take the copies, so that nothing of it crosses a
  /// link; where C's GPU has both inputs, it reads them there. Writes to it must have
  /// ended, but for those in default streams. What is kept must not change: whoever
  /// changes it calls `keep` again, which copies anew, and who frees it calls `release`
  /// first, or what is allocated there next is taken for it. It takes as much memory of
  /// each device; where devices are set that have no copy, it is read as if it were not
  /// kept. Throws InputError when the shape is not legal or a device has too little
  /// memory: then nothing of it is kept. gemm throws InputError for a C that lies in it.
  /// docs/model.md#kept-copies
  template <class Element>
  void keep(const Element* data, int64_t rows, int64_t cols, int64_t ld) {
    keep(dtype_of(data), data, rows, cols, ld);
  }
  void keep(DType dtype, const void* data, int64_t rows, int64_t cols, int64_t ld);
  /// Throws InputError for an address that is not kept.
  void release(const void* data);

  /// Waits for the calls that did not wait (GemmOptions::wait), as all members do that
  /// devices take part in. Throws std::runtime_error when one of them failed.
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
/// m x k, op(B) is k x n, C is m x n; trans is 'N', 'T' or 'C' (either case; 'C' is 'T').
/// Each matrix lies whole in host memory (pageable, registered, pinned or managed) or on
/// one GPU of the machine description (cudaMalloc or a stream-ordered pool, to which the
/// GPUs that take part are given access). As in BLAS, A and B are not read when alpha or
/// k is 0, C is not read when beta is 0, and nothing is done when m or n is 0. C may not
/// overlap A or B. Halves are multiplied with f32 accumulation; C is rounded to the
/// halves after each tile of k. Where all matrices lie on one GPU, the call is one kernel
/// there unless several GPUs are sure to be faster (docs/model.md#calls-on-one-gpu).
/// Where devices have less free memory than described, the plan makes do with it. Returns
/// when C is complete, or as GemmOptions::wait says; the current device is the one it
/// was. Throws ArgumentError, InputError when a matrix lies where the machine description
/// has no memory or no plan fits into what is free, HardwareError, std::runtime_error
/// naming the operation that failed; C is then unspecified, the context usable.
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
