#include "api/hardware.hpp"
#include "model/base/error.hpp"

namespace tilerail::api {

std::unique_ptr<Hardware> cuda_hardware() {
  throw HardwareError{"TileRail was built without CUDA"};
}

}  // namespace tilerail::api
