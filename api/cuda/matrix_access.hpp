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

/// Registers pageable matrices for the duration of a call, or leaves them to threads that
/// copy, gives devices access to memory pools, and works on a copy of a matrix whose
/// memory is registered in parts, which no copy to a device may span.
class MatrixAccess final : public api::MemoryAccess {
 public:
  /// Throws CudaError, std::bad_alloc.
  MatrixAccess(const api::Matrices& matrices, std::span<const int> users,
               Pageable pageable);

  api::Pointers pointers() const override;
  void finish() override;

  /// Which matrices are to be copied by threads.
  PageableMatrices copied() const { return copied_; }

  /// The allocations of all matrices, and of such copies of them, which callers may free
  /// between two calls; nothing where one in host memory is not known.
  std::optional<AllocationIds> allocations(const api::Copies& copies) const;

  /// What keeps matrices page-locked.
  const std::vector<Registrations::Lease>& leases() const { return leases_; }

 private:
  struct Free {
    void operator()(std::byte* pages) const;
  };
  using Pages = std::unique_ptr<std::byte[], Free>;  // shared with nothing that others
                                                     // may have registered

  void substitute(size_t which);
  bool leave_to_threads(std::span<const size_t> on_host,
                        std::span<const api::AddressRange> ranges);

  api::Matrices matrices_;
  std::array<Pages, 3> copies_;
  std::vector<Registrations::Lease> leases_;
  PageableMatrices copied_;
};

}  // namespace tilerail::cuda
