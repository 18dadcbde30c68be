#include "backends/cuda/trace/cupti_library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace tilerail::cuda {
namespace {

/// The loader's own search first, then where toolkits install it.
std::vector<std::string> candidates() {
  const std::string name = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
  std::vector<std::string> paths{name};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable))
      for (const char* folder : {"/extras/CUPTI/lib64/", "/lib64/"}) paths.push_back(home + std::string{folder} + name);
  for (const char* folder : {"/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/"})
    paths.push_back(folder + name);
  return paths;
}

struct Opened {
  CuptiLibrary library;
  std::string why;
};

template <class Function>
bool find(void* handle, const char* name, Function& function, std::string& why) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function) why = std::string{"CUPTI has no "} + name;
  return function != nullptr;
}

Opened open_library() {
  Opened opened;
  void* handle = nullptr;
  for (const std::string& path : candidates())
    if (!handle) handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    opened.why = "there is no " + candidates().front();
    return opened;
  }
  CuptiLibrary& l = opened.library;
  std::string& why = opened.why;
  find(handle, "cuptiActivityRegisterCallbacks", l.register_callbacks, why) &&
      find(handle, "cuptiActivityEnable", l.enable, why) && find(handle, "cuptiActivityDisable", l.disable, why) &&
      find(handle, "cuptiActivityFlushAll", l.flush_all, why) &&
      find(handle, "cuptiActivityGetNextRecord", l.next_record, why) &&
      find(handle, "cuptiActivityGetNumDroppedRecords", l.dropped_records, why) &&
      find(handle, "cuptiActivityPushExternalCorrelationId", l.push_correlation, why) &&
      find(handle, "cuptiActivityPopExternalCorrelationId", l.pop_correlation, why) &&
      find(handle, "cuptiGetTimestamp", l.timestamp, why) &&
      find(handle, "cuptiGetResultString", l.result_string, why) && find(handle, "cuptiSubscribe", l.subscribe, why) &&
      find(handle, "cuptiEnableCallback", l.enable_callback, why) &&
      find(handle, "cuptiGetGraphNodeId", l.graph_node_id, why);
  return opened;
}

}  // namespace

const CuptiLibrary* CuptiLibrary::open(std::string& why) {
  static const Opened opened = open_library();
  why = opened.why;
  return why.empty() ? &opened.library : nullptr;
}

}  // namespace tilerail::cuda
