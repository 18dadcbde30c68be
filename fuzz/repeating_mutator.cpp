#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

// libFuzzer's own mutation.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

/// Some mutations repeat a few bytes of the input thousands of times. libFuzzer's own
/// mutations copy parts of at most the input's length and keep an input only if it
/// reaches new code. Depth alone reaches no new code, so they never built the nesting of
/// 10,000 levels or the number of 100,000 digits that overflows a stack or floods an
/// error.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  constexpr unsigned one_of = 16;
  constexpr size_t longest = 24;
  std::minstd_rand random{seed};
  if (size == 0 || size >= max_size || random() % one_of != 0)
    return LLVMFuzzerMutate(data, size, max_size);
  const size_t begin = random() % size;
  const size_t length = 1 + random() % std::min(longest, size - begin);
  const std::vector<uint8_t> part(data + begin, data + begin + length);
  const size_t times = (max_size - size) / length >> random() % 8;
  std::memmove(data + begin + times * length, data + begin, size - begin);
  for (size_t i = 0; i < times; ++i)
    std::copy(part.begin(), part.end(), data + begin + i * length);
  return size + times * length;
}
