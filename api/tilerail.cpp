#include <utility>

#include "api/session.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail {
Context::Context(const ContextOptions& options)
    : session_{std::make_unique<api::Session>(api::cuda_hardware(), options)} {}

Context::Context(std::unique_ptr<api::Session> session) : session_{std::move(session)} {}

Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

void Context::set_policy(const std::string& name) { session_->set_policy(name); }
void Context::set_override(const std::string& assignment) {
  session_->set_override(assignment);
}
void Context::set_tile(int64_t tile) {
  session_->set_override(tile == 0 ? "tile=search" : "tile=" + std::to_string(tile));
}
void Context::set_devices(const std::vector<int>& devices) {
  session_->set_devices(devices);
}
void Context::set_pageable(Pageable pageable) { session_->set_pageable(pageable); }
void Context::set_plan_cache(const std::string& file) { session_->set_plan_cache(file); }
void Context::register_memory(void* data, int64_t bytes) {
  session_->register_memory(data, bytes);
}
void Context::unregister_memory(void* data) { session_->unregister_memory(data); }
void* Context::allocate_host(int64_t bytes, HostPages pages) {
  return session_->allocate_host(bytes, pages);
}
void Context::free_host(void* data) { session_->free_host(data); }
double Context::host_rate(const void* data, int64_t bytes) {
  return session_->host_rate(data, bytes);
}
void Context::reserve(int64_t bytes) { session_->reserve(bytes); }
void Context::keep(DType dtype, const void* data, int64_t rows, int64_t cols,
                   int64_t ld) {
  session_->keep(data, rows, cols, ld, element_size(dtype));
}
void Context::release(const void* data) { session_->release(data); }
void Context::synchronize() { session_->synchronize(); }
std::string Context::topology_name() const { return session_->topology_name(); }
std::vector<int> Context::devices() const { return session_->devices(); }
std::string Context::policy() const { return session_->policy(); }
size_t Context::cached_plans() const { return session_->cached_plans(); }

void gemm(Context& context, const GemmArguments& arguments, const GemmOptions& options) {
  GemmArguments typed = arguments;
  if (options.tf32 && typed.dtype == DType::f32) typed.dtype = DType::tf32;
  context.session().gemm(typed, options);
}

}  // namespace tilerail
