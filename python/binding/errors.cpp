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

/// Bytes that are not UTF-8, as in names of files, become surrogates.
nb::str text_of(const std::string& text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogateescape"));
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& e) {
    raise("InputError", text_of(e.subject),
          e.value ? nb::object(text_of(*e.value)) : nb::none(), text_of(e.problem),
          text_of(e.expected), text_of(e.place));
  } catch (const HardwareError& e) {
    raise("HardwareError", text_of(e.what()));
  } catch (const ExecutionError& e) {
    raise("ExecutionError", text_of(e.what()));
  }
}

}  // namespace

void add_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace tilerail::python
