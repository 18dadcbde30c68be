#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/import/host_links.hpp"

namespace tilerail {

/// The matrices that nvbandwidth measured, by name of the test case, from its JSON or its text.
class NvbandwidthCases {
 public:
  /// Throws InputError naming the place for a text that is neither, and for cells and shapes that are not rates of
  /// GPUs.
  NvbandwidthCases(std::string_view text, const std::string& file);

  size_t gpus() const { return gpus_; }
  const std::string& file() const { return file_; }

  /// What a test case gives each GPU; null where it is not there.
  const MeasuredRates* host(const std::string& name) const;

  /// From GPU to GPU; empty without such a test case. A read goes from column to row, a write from row to column,
  /// whatever the arrows of their descriptions say. Source: DeviceToDeviceReadCE and WriteCE of nvbandwidth,
  /// whose first and later versions agree in it.
  MeasuredPairs pairs() const;

  /// The sum of both directions while both copy, by pair; empty without such a test case.
  MeasuredPairs pairs_both() const;

  /// Test cases that nobody asked for, and those that did not pass, with their places; "" if there are none.
  std::string left_out() const;

 private:
  struct Case {
    MeasuredPairs cells;
    std::string place, status;
    mutable bool used = false;
  };

  void read_json(std::string_view text);
  void read_text(std::string_view text);
  const Case* find(const std::string& name) const;
  MeasuredPairs pairs_of(const std::string& name, bool from_row) const;

  const std::string& file_;
  std::map<std::string, Case> all_;
  std::vector<std::string> failed_;
  size_t gpus_ = 0;
};

}  // namespace tilerail
