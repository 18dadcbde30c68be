# One library target per folder, so that the link edges are the include rule.

include(GNUInstallDirs)

add_library(tilerail_options INTERFACE)
target_include_directories(tilerail_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tilerail_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;$<$<BOOL:${TILERAIL_WERROR}>:-Werror>>")
# GCC 12 sees overlapping copies in `"text" + std::string` that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tilerail_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# tilerail_library(NAME LIBRARIES...): every .cpp file of the current folder becomes tilerail::NAME.
function(tilerail_library name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_library(tilerail_${name} STATIC ${sources})
  add_library(tilerail::${name} ALIAS tilerail_${name})
  target_link_libraries(tilerail_${name} PUBLIC tilerail_options ${ARGN})
endfunction()

# tilerail_tests(NAME LABELS LIBRARIES...): every *_test.cpp file of the folder NAME becomes one GoogleTest program.
function(tilerail_tests name labels)
  file(GLOB sources CONFIGURE_DEPENDS ${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target ${name})
  add_executable(tests_${target} ${sources})
  target_link_libraries(tests_${target} PRIVATE ${ARGN} GTest::gtest_main)
  target_compile_definitions(tests_${target} PRIVATE TILERAIL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(tests_${target} PROPERTIES LABELS "${labels}" DISCOVERY_TIMEOUT 60)
endfunction()

# tilerail_feature(VARIABLE FOUND): resolves AUTO, ON or OFF against what was found.
function(tilerail_feature variable found)
  if(${variable} STREQUAL "ON" AND NOT found)
    message(FATAL_ERROR "${variable}=ON, but what it needs was not found")
  endif()
  if(${variable} STREQUAL "OFF" OR NOT found)
    set(${variable}_ENABLED FALSE PARENT_SCOPE)
  else()
    set(${variable}_ENABLED TRUE PARENT_SCOPE)
  endif()
endfunction()
