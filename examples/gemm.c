/* C = 2 A B^T + C in single precision on all GPUs, from C99; checked on sampled elements.
 *   gemm_c [N] [TOPOLOGY] */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tilerail/tilerail.h>

static float next_random(uint64_t* state) { /* uniform in [-1, 1): the high bits of a
                                               linear congruential generator */
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)(*state >> 40) / (float)(1 << 23) - 1.0f;
}

static float* random_matrix(int64_t n, uint64_t seed) {
  float* values = malloc((size_t)n * (size_t)n * sizeof *values);
  int64_t i;
  for (i = 0; values && i < n * n; ++i) values[i] = next_random(&seed);
  return values;
}

/* Whether 1000 elements of C equal the result of a plain loop, within f32 rounding. */
static int sampled_right(const float* a, const float* b, const float* before,
                         const float* c, int64_t n) {
  uint64_t state = 99;
  int sample;
  for (sample = 0; sample < 1000; ++sample) {
    const int64_t i = (int64_t)((next_random(&state) + 1.0f) / 2.0f * (float)n) % n;
    const int64_t j = (int64_t)((next_random(&state) + 1.0f) / 2.0f * (float)n) % n;
    double sum = before[i + j * n], magnitude = fabs(sum);
    int64_t p;
    for (p = 0; p < n; ++p) {
      const double product = 2.0 * a[i + p * n] * b[j + p * n];
      sum += product;
      magnitude += fabs(product);
    }
    if (!(fabs(c[i + j * n] - sum) <=
          2.0 * (double)(n + 2) * ldexp(1.0, -24) * magnitude))
      return 0;
  }
  return 1;
}

static int exit_code(tilerail_status_t status) {
  return status == TILERAIL_SUCCESS ? 0 : status == TILERAIL_NO_HARDWARE ? 3 : 2;
}

int main(int argc, char** argv) {
  const int64_t n = argc > 1 ? atoll(argv[1]) : 2048;
  tilerail_handle_t handle = NULL;
  tilerail_status_t status;
  float *a, *b, *c, *before;
  int right = 0;
  if (n < 1 || n > 65536) {
    fprintf(stderr, "usage: %s [N from 1 to 65536] [TOPOLOGY]\n", argv[0]);
    return 2;
  }
  status = tilerail_create(&handle, argc > 2 ? argv[2] : NULL, NULL, 0);
  if (status != TILERAIL_SUCCESS) {
    fprintf(stderr, "%s: %s\n", tilerail_status_name(status), tilerail_last_error(NULL));
    return exit_code(status);
  }
  a = random_matrix(n, 1);
  b = random_matrix(n, 2);
  c = random_matrix(n, 3);
  before = random_matrix(n, 3);
  if (a && b && c && before) {
    status = tilerail_sgemm(handle, 'N', 'T', n, n, n, 2.0f, a, n, b, n, 1.0f, c, n);
    if (status != TILERAIL_SUCCESS)
      fprintf(stderr, "%s (%d): %s\n", tilerail_status_name(status), status,
              tilerail_last_error(handle));
    else
      right = sampled_right(a, b, before, c, n);
    if (status == TILERAIL_SUCCESS) puts(right ? "right" : "WRONG");
  } else {
    fputs("out of memory\n", stderr);
    status = TILERAIL_OUT_OF_MEMORY;
  }
  free(a);
  free(b);
  free(c);
  free(before);
  tilerail_destroy(handle);
  return status == TILERAIL_SUCCESS ? (right ? 0 : 1) : exit_code(status);
}
