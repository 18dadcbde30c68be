#include "backends/cuda/run/host_buffer.hpp"

#include <fmt/format.h>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cuda/run/cuda_check.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/threads.hpp"
#include "model/base/timer.hpp"

namespace tilerail::cuda {
namespace {

constexpr size_t touch_bytes = 64 << 10;  // touched by a core before the next core's turn

/// Bit mask of the NUMA nodes with memory, among the first 64.
unsigned long memory_nodes() {
  unsigned long nodes = 0;
  for (int node = 0; node < 64; ++node) {
    std::ifstream file{fmt::format("/sys/devices/system/node/node{}/meminfo", node)};
    std::string words[3];
    double total = 0;
    if (file >> words[0] >> words[1] >> words[2] >> total && total > 0)
      nodes |= 1UL << node;  // "Node 0 MemTotal: N kB"
  }
  return nodes;
}

/// Requests interleaving of the pages over the nodes if the kernel shows several nodes.
void interleave(void* data, size_t bytes) {
  const unsigned long nodes = memory_nodes();
  if ((nodes & (nodes - 1)) != 0)
    syscall(SYS_mbind, data, bytes, MPOL_INTERLEAVE, &nodes, 64UL, 0U);  // may refuse
}

/// Cores take turns in touching pages first. If the mapping is interleaved, this only
/// saves time.
void touch(std::byte* data, size_t bytes) {
  const std::vector<int> cores = usable_cores();
  const auto page = size_t(sysconf(_SC_PAGESIZE));
  const auto caller = std::this_thread::get_id();
  share_work(cores.size(), [&](size_t t) {
    cpu_set_t set{};
    CPU_SET(cores[t], &set);
    if (std::this_thread::get_id() != caller)
      sched_setaffinity(0, sizeof set, &set);  // a refusal changes little
    for (size_t block = t * touch_bytes; block < bytes;
         block += cores.size() * touch_bytes)
      for (size_t at = block; at < std::min(bytes, block + touch_bytes); at += page)
        data[at] = std::byte{0};
  });
}

[[noreturn]] void no_memory(size_t bytes, const std::string& why) {
  throw fault_of("host memory",
                 fmt::format("{} bytes cannot be page-locked ({})", bytes, why),
                 "a machine with as much free memory, and a limit on locked memory "
                 "(ulimit -l) above it");
}

/// Alignment of buffers, the same as of the runtime's buffers: the rate of 2-D copies
/// depends on the start of columns within about 64 KiB.
constexpr size_t border = 2 << 20;

std::byte* at_border(std::byte* mapped) {
  return mapped + (border - reinterpret_cast<uintptr_t>(mapped) % border) % border;
}

std::byte* map_spread(size_t bytes) {
  const size_t all = bytes + border;
  void* mapped =
      mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) no_memory(bytes, std::strerror(errno));
  madvise(mapped, all,
          MADV_NOHUGEPAGE);  // a kernel without huge pages refuses, but has small pages
                             // anyway
  interleave(mapped, all);
  touch(static_cast<std::byte*>(mapped), all);
  const cudaError_t status = cudaHostRegister(mapped, all, cudaHostRegisterPortable);
  if (status == cudaSuccess) return static_cast<std::byte*>(mapped);
  cudaGetLastError();
  munmap(mapped, all);
  no_memory(bytes, cudaGetErrorString(status));
}

std::byte* allocate_plain(size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
  if (status == cudaSuccess) return static_cast<std::byte*>(data);
  cudaGetLastError();
  no_memory(bytes, cudaGetErrorString(status));
}

}  // namespace

HostBuffer::HostBuffer(size_t bytes, HostPages pages) : bytes_{bytes}, pages_{pages} {
  if (bytes == 0) return;
  allocated_ = pages == HostPages::spread ? map_spread(bytes) : allocate_plain(bytes);
  data_ = pages == HostPages::spread ? at_border(allocated_) : allocated_;
}

HostBuffer::~HostBuffer() {
  if (!allocated_) return;
  if (pages_ == HostPages::plain) {
    cudaFreeHost(allocated_);
    return;
  }
  cudaHostUnregister(allocated_);
  munmap(allocated_, bytes_ + border);
}

HostBuffer::HostBuffer(HostBuffer&& other) noexcept { *this = std::move(other); }

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(allocated_, other.allocated_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(pages_, other.pages_);
  return *this;
}

double host_buffer_rate(const std::byte* data, size_t bytes,
                        std::span<const int> devices) {
  constexpr size_t most = size_t{256} << 20;  // per device
  struct Reader {
    int device;
    cudaStream_t stream = nullptr;
    void* target = nullptr;
  };
  std::vector<Reader> readers;
  const size_t share = std::min(most, bytes / std::max<size_t>(1, devices.size()));
  const auto read_all = [&] {
    for (const auto i : indices(readers)) {
      const DeviceScope scope{readers[i].device};
      check(cudaMemcpyAsync(readers[i].target, data + i * share, share,
                            cudaMemcpyHostToDevice, readers[i].stream),
            "reading a host buffer");
    }
    for (const Reader& reader : readers)
      check(cudaStreamSynchronize(reader.stream), "reading a host buffer");
  };
  const auto close = [&] {
    for (const Reader& reader : readers) {
      const DeviceScope scope{reader.device};
      cudaFree(reader.target);
      if (reader.stream) cudaStreamDestroy(reader.stream);
    }
  };
  double rate = 0;
  try {
    for (const int device : devices) {
      const DeviceScope scope{device};
      readers.push_back({device});
      check(cudaStreamCreateWithFlags(&readers.back().stream, cudaStreamNonBlocking),
            "creating a stream");
      check(cudaMalloc(&readers.back().target, share), "allocating device memory");
    }
    read_all();
    const Timer timer;
    read_all();
    rate = double(share * devices.size()) / timer.seconds();
  } catch (...) {
    close();
    throw;
  }
  close();
  return rate;
}

}  // namespace tilerail::cuda
