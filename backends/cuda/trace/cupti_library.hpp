#pragma once

#include <cupti.h>

#include <string>

namespace tilerail::cuda {

/// The functions of CUPTI that a trace needs, from the shared library of this CUDA
/// version. The library is opened for the first trace, so that programs run without it.
struct CuptiLibrary {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush_all;
  decltype(&cuptiActivityGetNextRecord) next_record;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records;
  decltype(&cuptiActivityPushExternalCorrelationId) push_correlation;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_correlation;
  decltype(&cuptiGetTimestamp) timestamp;
  decltype(&cuptiGetResultString) result_string;
  decltype(&cuptiSubscribe) subscribe;
  decltype(&cuptiEnableCallback) enable_callback;
  decltype(&cuptiGetGraphNodeId) graph_node_id;

  /// Null if the library does not exist or lacks a function; `why` then contains the
  /// reason. Opened once per process.
  static const CuptiLibrary* open(std::string& why);
};

}  // namespace tilerail::cuda
