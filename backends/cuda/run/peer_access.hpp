#pragma once

namespace tilerail::cuda {

/// Enables direct access of `user` to the memory of `owner`; false if the hardware does
/// not support it. The current device is unchanged afterwards. Throws CudaError.
bool open_peer_access(int user, int owner);

}  // namespace tilerail::cuda
