#include "backends/cuda/run/peer_access.hpp"

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

bool open_peer_access(int user, int owner) {
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, user, owner), "asking for peer access");
  if (!possible) return false;
  const DeviceScope scope{user};
  const cudaError_t status = cudaDeviceEnablePeerAccess(owner, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    check(status, "opening peer access");
  return true;
}

}  // namespace tilerail::cuda
