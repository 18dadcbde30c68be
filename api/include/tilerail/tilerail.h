/* Matrix multiplication on all GPUs of a machine, for C. Column-major, 64-bit sizes,
 * arguments in the order of BLAS. Every function returns a status: 0 is success; -i
 * means that the i-th argument of BLAS's xGEMM is invalid, counted from transa = 1 to
 * ldc = 13 (without the handle, and the dtype of tilerail_gemm_ex); positive values are
 * listed below. tilerail_last_error returns the error text. Several threads can use one
 * handle simultaneously, except to destroy it: their calls overlap, and the calls of each
 * thread run in their order. Details: tilerail::Context in tilerail.hpp. */
#ifndef TILERAIL_H
#define TILERAIL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tilerail_context* tilerail_handle_t;
typedef int tilerail_status_t;

enum {
  TILERAIL_SUCCESS = 0,
  TILERAIL_INVALID_HANDLE = 1, /* the handle is null */
  TILERAIL_INVALID_VALUE = 2,  /* an invalid argument, file or address */
  TILERAIL_NO_HARDWARE = 3,    /* no CUDA device, or the requested one does not exist */
  TILERAIL_OUT_OF_MEMORY = 4,  /* the host or a GPU lacks memory */
  TILERAIL_EXECUTION_FAILED =
      5, /* a copy or a kernel failed, or a thread cannot be started */
  TILERAIL_INTERNAL_ERROR = 6
};

typedef enum {
  TILERAIL_F64 = 0,
  TILERAIL_F32 = 1,
  TILERAIL_F16 = 2,
  TILERAIL_BF16 = 3,
  TILERAIL_TF32 = 4, /* f32 in memory, multiplied with the mantissas of TF32 */
  TILERAIL_DTYPE_MAX = 0x7fffffff /* not a type; makes every int a valid argument */
} tilerail_dtype_t;

typedef enum {
  TILERAIL_PAGEABLE_REGISTERED =
      0,                        /* pageable memory is locked for the duration of a call */
  TILERAIL_PAGEABLE_STAGED = 1, /* the driver copies it through its own buffers */
  TILERAIL_PAGEABLE_COPIED =
      2, /* threads of the call copy it through page-locked slots */
  TILERAIL_PAGEABLE_MAX = 0x7fffffff
} tilerail_pageable_t;

typedef enum {
  TILERAIL_PAGES_SPREAD =
      0, /* over all memory controllers: the fastest for all GPUs together */
  TILERAIL_PAGES_PLAIN = 1, /* as the runtime allocates them */
  TILERAIL_PAGES_MAX = 0x7fffffff
} tilerail_pages_t;

/* `topology`: file or name of a machine description; NULL: the value of
 * TILERAIL_TOPOLOGY, else a description made from the properties of the devices.
 * `devices`: `device_count` CUDA devices; NULL and 0: all. On failure *handle is NULL,
 * and tilerail_last_error(NULL) returns the reason. */
tilerail_status_t tilerail_create(tilerail_handle_t* handle, const char* topology,
                                  const int* devices, int device_count);
tilerail_status_t tilerail_destroy(tilerail_handle_t handle); /* NULL is allowed */

/* Error text of the last failed call of this thread with this handle; "" if no call
 * failed. Valid until the next failure in this thread. */
const char* tilerail_last_error(tilerail_handle_t handle);
/* The name of a status, such as "TILERAIL_NO_HARDWARE" or "TILERAIL_INVALID_ARGUMENT". */
const char* tilerail_status_name(tilerail_status_t status);

tilerail_status_t tilerail_set_policy(tilerail_handle_t handle, const char* name);
tilerail_status_t tilerail_set_override(tilerail_handle_t handle,
                                        const char* assignment); /* "key=value" */
tilerail_status_t tilerail_set_tile(tilerail_handle_t handle,
                                    int64_t tile); /* 0: chosen for each problem */
tilerail_status_t tilerail_set_devices(tilerail_handle_t handle, const int* devices,
                                       int device_count);
tilerail_status_t tilerail_set_pageable(tilerail_handle_t handle,
                                        tilerail_pageable_t pageable);
/* Later calls take their plans from this file of `tilerail tune` if it contains them; "":
 * no file. Default: the file named by TILERAIL_PLAN_CACHE. A problem without a cached
 * plan is planned by an estimate, within milliseconds. */
tilerail_status_t tilerail_set_plan_cache(tilerail_handle_t handle, const char* file);
/* Origin of the plan of the last successful call of this thread with this handle, in a
 * sentence such as "plan cache 'node.toml': 8.12 ms by the simulator, ..." or "estimate:
 * ...; plan cache ... has no plan of this problem"; "" if no call succeeded. Valid until
 * the next such call in this thread. */
const char* tilerail_plan_origin(tilerail_handle_t handle);
/* Allocates at least `bytes` for tiles on each device, now. */
tilerail_status_t tilerail_reserve(tilerail_handle_t handle, int64_t bytes);
/* Page-locks host memory until it is unregistered or the handle destroyed, so that calls
 * need not. */
tilerail_status_t tilerail_register(tilerail_handle_t handle, void* data, int64_t bytes);
tilerail_status_t tilerail_unregister(tilerail_handle_t handle, void* data);

/* Copies an input of several products to each device, until it is released or the handle
 * destroyed: products that read it, or a part of it, as A or B use the copies. It must
 * not change; after a change, keep it again. Details: tilerail::Context::keep in
 * tilerail.hpp. */
tilerail_status_t tilerail_keep(tilerail_handle_t handle, tilerail_dtype_t dtype,
                                const void* data, int64_t rows, int64_t cols, int64_t ld);
tilerail_status_t tilerail_release(tilerail_handle_t handle, const void* data);

/* Allocates page-locked host memory, until it is freed or the handle destroyed. On
 * failure *data is NULL. */
tilerail_status_t tilerail_alloc_host(tilerail_handle_t handle, void** data,
                                      int64_t bytes, tilerail_pages_t pages);
tilerail_status_t tilerail_free_host(tilerail_handle_t handle, void* data);
/* Total rate at which the devices read from page-locked memory, in bytes per second,
 * measured in about 30 ms. */
tilerail_status_t tilerail_host_rate(tilerail_handle_t handle, const void* data,
                                     int64_t bytes, double* rate);

/* C = alpha op(A) op(B) + beta C; trans is 'N', 'T' or 'C'. Matrices lie on the host or
 * on a GPU. The call returns when C is complete. Details, including streams:
 * tilerail::gemm in tilerail.hpp. */
tilerail_status_t tilerail_dgemm(tilerail_handle_t handle, char transa, char transb,
                                 int64_t m, int64_t n, int64_t k, double alpha,
                                 const double* A, int64_t lda, const double* B,
                                 int64_t ldb, double beta, double* C, int64_t ldc);
tilerail_status_t tilerail_sgemm(tilerail_handle_t handle, char transa, char transb,
                                 int64_t m, int64_t n, int64_t k, float alpha,
                                 const float* A, int64_t lda, const float* B, int64_t ldb,
                                 float beta, float* C, int64_t ldc);
/* IEEE binary16 (__half) and bfloat16 (__nv_bfloat16). */
tilerail_status_t tilerail_hgemm(tilerail_handle_t handle, char transa, char transb,
                                 int64_t m, int64_t n, int64_t k, float alpha,
                                 const void* A, int64_t lda, const void* B, int64_t ldb,
                                 float beta, void* C, int64_t ldc);
tilerail_status_t tilerail_bfgemm(tilerail_handle_t handle, char transa, char transb,
                                  int64_t m, int64_t n, int64_t k, float alpha,
                                  const void* A, int64_t lda, const void* B, int64_t ldb,
                                  float beta, void* C, int64_t ldc);
/* Any type; `stream` is a cudaStream_t or NULL. */
tilerail_status_t tilerail_gemm_ex(tilerail_handle_t handle, tilerail_dtype_t dtype,
                                   char transa, char transb, int64_t m, int64_t n,
                                   int64_t k, double alpha, const void* A, int64_t lda,
                                   const void* B, int64_t ldb, double beta, void* C,
                                   int64_t ldc, void* stream);
/* The asynchronous version: returns when its work is submitted; C is complete for later
 * work in `stream`. Until then matrices must not change. Details:
 * tilerail::GemmOptions::wait in tilerail.hpp. */
tilerail_status_t tilerail_gemm_async(tilerail_handle_t handle, tilerail_dtype_t dtype,
                                      char transa, char transb, int64_t m, int64_t n,
                                      int64_t k, double alpha, const void* A, int64_t lda,
                                      const void* B, int64_t ldb, double beta, void* C,
                                      int64_t ldc, void* stream);
/* Waits for the work of tilerail_gemm_async, of all threads. */
tilerail_status_t tilerail_synchronize(tilerail_handle_t handle);

#ifdef __cplusplus
}
#endif

#endif
