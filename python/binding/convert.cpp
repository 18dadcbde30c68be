#include "python/binding/convert.hpp"

#include "study/sweep/keys.hpp"

namespace tilerail::python {

study::JobText job_of(const Texts& texts) {
  study::JobText job;
  for (const auto& [key, value] : texts) study::set_key(job, key, value);
  return job;
}

nb::object python_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return nb::bool_(json.get<bool>());
    case Json::value_t::number_integer:
      return nb::int_(json.get<int64_t>());
    case Json::value_t::number_unsigned:
      return nb::int_(json.get<uint64_t>());
    case Json::value_t::number_float:
      return nb::float_(json.get<double>());
    case Json::value_t::string:
      return nb::str(json.get_ref<const std::string&>().c_str());
    case Json::value_t::array: {
      nb::list list;
      for (const Json& entry : json) list.append(python_of(entry));
      return list;
    }
    case Json::value_t::object: {
      nb::dict dict;
      for (const auto& [key, value] : json.items()) dict[key.c_str()] = python_of(value);
      return dict;
    }
    default:
      return nb::none();
  }
}

}  // namespace tilerail::python
