#include "backends/cuda/trace/cupti_library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace tilerail::cuda {
namespace {

/// The loader's own search first, then the installation folders of toolkits.
std::vector<std::string> candidates() {
  const std::string name = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
  std::vector<std::string> paths{name};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable))
      for (const char* folder : {"/extras/CUPTI/lib64/", "/lib64/"})
        paths.push_back(home + std::string{folder} + name);
  for (const char* folder :
       {"/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/"})
    paths.push_back(folder + name);
  return paths;
}

struct LoadResult {
  CuptiLibrary library;
  std::string why;
};

void* load_library() {
  for (const std::string& path : candidates())
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

LoadResult open_library() {
  LoadResult opened{};
  void* const handle = load_library();
  if (!handle) {
    opened.why = candidates().front() + " does not exist";
    return opened;
  }
  const auto find = [&]<class Function>(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (!function && opened.why.empty()) opened.why = std::string{"CUPTI has no "} + name;
  };
  CuptiLibrary& l = opened.library;
  find("cuptiActivityRegisterCallbacks", l.register_callbacks);
  find("cuptiActivityEnable", l.enable);
  find("cuptiActivityDisable", l.disable);
  find("cuptiActivityFlushAll", l.flush_all);
  find("cuptiActivityGetNextRecord", l.next_record);
  find("cuptiActivityGetNumDroppedRecords", l.dropped_records);
  find("cuptiActivityPushExternalCorrelationId", l.push_correlation);
  find("cuptiActivityPopExternalCorrelationId", l.pop_correlation);
  find("cuptiGetTimestamp", l.timestamp);
  find("cuptiGetResultString", l.result_string);
  find("cuptiSubscribe", l.subscribe);
  find("cuptiEnableCallback", l.enable_callback);
  find("cuptiGetGraphNodeId", l.graph_node_id);
  return opened;
}

}  // namespace

const CuptiLibrary* CuptiLibrary::open(std::string& why) {
  static const LoadResult opened = open_library();
  why = opened.why;
  return why.empty() ? &opened.library : nullptr;
}

}  // namespace tilerail::cuda
