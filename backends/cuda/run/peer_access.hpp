#pragma once

namespace tilerail::cuda {

/// Lets `user` reach the memory of `owner` directly from now on; false where the hardware
/// cannot. The current device is left as found. Throws CudaError.
bool open_peer_access(int user, int owner);

}  // namespace tilerail::cuda
