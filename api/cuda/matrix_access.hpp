#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/cuda/registrations.hpp"
#include "api/hardware.hpp"
#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/staging_chunks.hpp"

namespace tilerail::cuda {

/// Registers pageable matrices for the duration of a call, or leaves them to copying
/// threads; gives devices access to memory pools; and works on a copy of a matrix whose
/// memory is registered in parts, because a copy to a device must not span these parts.
class MatrixAccess final : public api::MemoryAccess {
 public:
  /// Throws CudaError, std::bad_alloc.
  MatrixAccess(const api::Matrices& matrices, std::span<const int> users,
               Pageable pageable);

  api::Pointers pointers() const override;
  void finish() override;

  /// The matrices that threads must copy.
  PageableMatrices copied() const { return copied_; }

  /// The allocations of all matrices and of `copies`, which callers can free between two
  /// calls; nothing if an allocation in host memory is unknown.
  std::optional<AllocationIds> allocations(const api::Copies& copies) const;

  /// Leases that keep matrices page-locked.
  const std::vector<Registrations::Lease>& leases() const { return leases_; }

 private:
  struct Free {
    void operator()(std::byte* pages) const;
  };
  using Pages = std::unique_ptr<std::byte[], Free>;  // never part of memory that others
                                                     // have registered

  void substitute(size_t which);
  bool leave_to_threads(std::span<const size_t> on_host,
                        std::span<const api::AddressRange> ranges);

  api::Matrices matrices_;
  std::array<Pages, 3> copies_;
  std::vector<Registrations::Lease> leases_;
  PageableMatrices copied_;
};

}  // namespace tilerail::cuda
