#pragma once

#include <cupti.h>

#include <string>

namespace tilerail::cuda {

/// The functions of CUPTI that a trace needs, from the shared library of this CUDA
/// version. The library is opened for the first trace, so that programs run without it.
struct CuptiLibrary {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_correlation = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_correlation = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetGraphNodeId) graph_node_id = nullptr;

  /// Null if the library does not exist or lacks a function; `why` then contains the
  /// reason. Opened once per process.
  static const CuptiLibrary* open(std::string& why);
};

}  // namespace tilerail::cuda
