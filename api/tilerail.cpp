#include <utility>

#include "api/session.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail {
namespace {

/// Every element type, and the type of its scalars, comes down to one list of arguments.
template <class Element, class Scalar>
api::GemmArguments arguments(DType dtype, char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                             Scalar alpha, const Element* a, std::int64_t lda, const Element* b, std::int64_t ldb,
                             Scalar beta, Element* c, std::int64_t ldc) {
  return {dtype, trans_a, trans_b, m, n, k, double{alpha}, a, lda, b, ldb, double{beta}, c, ldc};
}

api::CallOptions call_of(const GemmOptions& options) {
  return {options.stream, options.wait, options.times, options.plan};
}

}  // namespace

Context::Context(const ContextOptions& options)
    : session_{std::make_unique<api::Session>(api::cuda_hardware(), options)} {}

Context::Context(std::unique_ptr<api::Session> session) : session_{std::move(session)} {}

Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

void Context::set_policy(const std::string& name) { session_->set_policy(name); }
void Context::set_override(const std::string& assignment) { session_->set_override(assignment); }
void Context::set_tile(std::int64_t tile) {
  session_->set_override(tile == 0 ? "tile=auto" : "tile=" + std::to_string(tile));
}
void Context::set_devices(const std::vector<int>& devices) { session_->set_devices(devices); }
void Context::set_pageable(Pageable pageable) { session_->set_pageable(pageable); }
void Context::set_plan_cache(const std::string& file) { session_->set_plan_cache(file); }
void Context::register_memory(void* data, std::int64_t bytes) { session_->register_memory(data, bytes); }
void Context::unregister_memory(void* data) { session_->unregister_memory(data); }
void* Context::allocate_host(std::int64_t bytes, HostPages pages) { return session_->allocate_host(bytes, pages); }
void Context::free_host(void* data) { session_->free_host(data); }
double Context::host_rate(const void* data, std::int64_t bytes) { return session_->host_rate(data, bytes); }
void Context::reserve(std::int64_t bytes) { session_->reserve(bytes); }
void Context::keep(const double* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  session_->keep(data, rows, cols, ld, sizeof *data);
}
void Context::keep(const float* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  session_->keep(data, rows, cols, ld, sizeof *data);
}
void Context::keep(const Half* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  session_->keep(data, rows, cols, ld, sizeof *data);
}
void Context::keep(const BFloat16* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  session_->keep(data, rows, cols, ld, sizeof *data);
}
void Context::release(const void* data) { session_->release(data); }
void Context::synchronize() { session_->synchronize(); }
std::string Context::topology_name() const { return session_->topology_name(); }
std::vector<int> Context::devices() const { return session_->devices(); }
std::string Context::policy() const { return session_->policy(); }
std::size_t Context::cached_plans() const { return session_->cached_plans(); }

void gemm(Context& context, char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
          const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c,
          std::int64_t ldc, const GemmOptions& options) {
  context.session().gemm(arguments(DType::f64, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
                         call_of(options));
}

void gemm(Context& context, char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
          const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc,
          const GemmOptions& options) {
  const DType dtype = options.tf32 ? DType::tf32 : DType::f32;
  context.session().gemm(arguments(dtype, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
                         call_of(options));
}

void gemm(Context& context, char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
          const Half* a, std::int64_t lda, const Half* b, std::int64_t ldb, float beta, Half* c, std::int64_t ldc,
          const GemmOptions& options) {
  context.session().gemm(arguments(DType::f16, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
                         call_of(options));
}

void gemm(Context& context, char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
          const BFloat16* a, std::int64_t lda, const BFloat16* b, std::int64_t ldb, float beta, BFloat16* c,
          std::int64_t ldc, const GemmOptions& options) {
  context.session().gemm(arguments(DType::bf16, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
                         call_of(options));
}

}  // namespace tilerail
