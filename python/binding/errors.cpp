#include "model/base/error.hpp"
#include "python/binding/convert.hpp"

namespace tilerail::python {
namespace {

/// Raises an exception of tilerail/errors.py with these arguments.
template <class... Arguments>
void raise(const char* type, const Arguments&... arguments) {
  const nb::object exception =
      nb::module_::import_("tilerail.errors").attr(type)(arguments...);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

nb::object text_or_none(const std::optional<std::string>& text) {
  return text ? nb::object(nb::str(text->c_str())) : nb::none();
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& e) {
    raise("InputError", e.what(), e.subject.c_str(), text_or_none(e.value),
          e.problem.c_str(), e.expected.c_str(), e.place.c_str());
  } catch (const HardwareError& e) {
    raise("HardwareError", e.what());
  } catch (const ExecutionError& e) {
    raise("ExecutionError", e.what());
  }
}

}  // namespace

void add_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace tilerail::python
