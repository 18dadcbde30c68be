/* The C header, seen by a C99 compiler. */
#include "tilerail/tilerail.h"

#include <stddef.h>

tilerail_status_t multiply_in_c(tilerail_handle_t handle, int64_t n, const double* a,
                                const double* b, double* c);

tilerail_status_t multiply_in_c(tilerail_handle_t handle, int64_t n, const double* a,
                                const double* b, double* c) {
  tilerail_status_t status =
      tilerail_dgemm(handle, 'N', 'N', n, n, n, 1.0, a, n, b, n, 0.0, c, n);
  if (status == TILERAIL_SUCCESS)
    status = tilerail_gemm_ex(handle, TILERAIL_F64, 'T', 'N', n, n, n, 1.0, a, n, b, n,
                              1.0, c, n, NULL);
  return status;
}
