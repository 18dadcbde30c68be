# find_package(tilerail): the target tilerail::api. The library brings all that it needs, and its headers include the
# standard library alone, so there is no other package to find.
include(${CMAKE_CURRENT_LIST_DIR}/tilerail-targets.cmake)
if(CMAKE_CXX_COMPILER_LOADED)  # a program in C needs no C++ compiler
  target_compile_features(tilerail::api INTERFACE cxx_std_20)
endif()
