// The native module of the Python package `tilerail`; its Python files document the
// functions.
#include "python/binding/convert.hpp"
#include "study/planning/plan_cache.hpp"

NB_MODULE(_native, module) {
  using namespace tilerail::python;
  nanobind::set_leak_warnings(false);  // processes of executors end before their caches
  const std::string_view version = tilerail::study::program_version();
  module.attr("__version__") = nb::str(version.data(), version.size());
#ifdef TILERAIL_CUBLAS
  module.attr("cublas") = TILERAIL_CUBLAS;  // loaded before the first use of a GPU
#else
  module.attr("cublas") = nb::none();
#endif
  add_errors(module);
  add_machine(module);
  add_plan(module);
  add_studies(module);
  add_product(module);
}
