# One library target for each room of the house (CONTRIBUTING.md), so that the link edges are the include rule.
#
# A header is included by its path from the root: "plan/plan.hpp". The root itself is on no include path. Each room has
# a folder of its own under ${PROJECT_BINARY_DIR}/rooms that holds nothing but a link to its sources, and that folder is
# the target's include path: what a target does not link, its files cannot include.

include(GNUInstallDirs)

add_library(tilerail_options INTERFACE)
target_compile_options(tilerail_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;$<$<BOOL:${TILERAIL_WERROR}>:-Werror>>")
if(NOT CMAKE_UNITY_BUILD)  # a local variable can have the name of another source's constant
  target_compile_options(tilerail_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>)
endif()
# GCC 12 sees overlapping copies in `"text" + std::string` that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tilerail_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# tilerail_room(TARGET PATHS...): makes PATHS, folders or headers below the root, includable by those paths for TARGET
# and whatever links it. scripts/structure reads these calls, too.
function(tilerail_room target)
  set_property(GLOBAL APPEND PROPERTY TILERAIL_ROOMS ${target})
  set(room ${PROJECT_BINARY_DIR}/rooms/${target})
  foreach(path ${ARGN})
    get_filename_component(parent ${room}/${path} DIRECTORY)
    if(IS_SYMLINK ${parent})  # of an older build, to the sources
      file(REMOVE ${parent})
    endif()
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${path} ${room}/${path} SYMBOLIC)
  endforeach()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${target} INTERFACE ${room})
  elseif(type STREQUAL "EXECUTABLE")
    target_include_directories(${target} PRIVATE ${room})
  else()
    target_include_directories(${target} PUBLIC ${room})
  endif()
endfunction()

# tilerail_precompile(TARGET HEADERS...): with TILERAIL_PCH, TARGET's C++ sources have these headers precompiled.
function(tilerail_precompile target)
  if(TILERAIL_PCH)
    foreach(header ${ARGN})
      target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
    endforeach()
  endif()
endfunction()

# tilerail_library(NAME LIBRARIES...): every .cpp file at or below the current folder becomes tilerail::NAME.
function(tilerail_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  add_library(tilerail_${name} STATIC ${sources})
  add_library(tilerail::${name} ALIAS tilerail_${name})
  target_link_libraries(tilerail_${name} PUBLIC tilerail_options ${ARGN})
  tilerail_sanitized(tilerail_${name})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  tilerail_room(tilerail_${name} ${path})
endfunction()

# tilerail_sanitized(TARGET): precompiles headers of a room in builds for debugging only, so that a release build of
# separate sources shows which includes a source lacks.
function(tilerail_sanitized target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    tilerail_precompile(${target} algorithm array cmath filesystem fmt/format.h fmt/ranges.h functional map optional set
                        string utility vector)
  endif()
endfunction()

# tilerail_cold(TARGET): TARGET's code takes little of the tests' time, so builds for debugging, sanitizers among them,
# do not optimise it: with a sanitizer, optimising is most of the time to compile.
function(tilerail_cold target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Debug>>:-O0>)
endfunction()

# tilerail_cheap(TARGET): TARGET's code is not worth optimising, and takes longest to compile if it is.
function(tilerail_cheap target)
  tilerail_cold(${target})
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
endfunction()

# tilerail_tests(NAME LABEL LIBRARIES...): the *.cpp files of the folder NAME become one GoogleTest program, and its
# tests become tests of ctest: LABEL.NAME.1 and so on, each with an equal share of them. A process for each fact would
# take longer than the facts.
function(tilerail_tests name label)
  file(GLOB sources CONFIGURE_DEPENDS ${name}/*.cpp)
  string(REPLACE "/" "_" target ${name})
  add_executable(tests_${target} ${sources})
  target_link_libraries(tests_${target} PRIVATE ${ARGN} GTest::gmock_main)
  target_compile_definitions(tests_${target} PRIVATE TILERAIL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  tilerail_room(tests_${target} tests)
  tilerail_cheap(tests_${target})
  # Checks of undefined behaviour take a third of the time to compile tests. Limit: code of the product that only tests
  # instantiate, such as templates, is not checked either.
  target_compile_options(tests_${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Debug>>:-fno-sanitize=undefined>)
  tilerail_precompile(tests_${target} gmock/gmock.h algorithm filesystem fmt/format.h functional map set string vector)
  list(LENGTH sources parts)
  math(EXPR parts "1 + ${parts} / 10")
  set(cost 0)
  if(name MATCHES "^(property|sched)$")  # the longest begin first, so that no core waits for them at the end
    set(cost 1000)  # more than any test that was timed
  endif()
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    set(test ${label}.${target}.${part})
    add_test(NAME ${test} COMMAND tests_${target})
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 3600 COST ${cost} ENVIRONMENT
                         "GTEST_BRIEF=1;GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
    if(label STREQUAL "gpu")  # each test skips itself without a GPU; nothing follows if no test failed
      set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION
                           "PASSED  . 0 tests[.]\n.  SKIPPED . [0-9]+ tests?[.]\n*$")
    endif()
  endforeach()
endfunction()

# tilerail_python_test(NAME LABEL MODULE [FOLDER]): the unittest file MODULE.py of FOLDER (the current one) on the real
# binary.
function(tilerail_python_test name label module)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN})
  list(GET folder -1 folder)
  set(program "TILERAIL=$<TARGET_FILE:tilerail>;TILERAIL_HAS_SIM=$<TARGET_EXISTS:tilerail_sim>")
  set(places "TILERAIL_SOURCE=${PROJECT_SOURCE_DIR};PYTHONPATH=${PROJECT_SOURCE_DIR}/python:${PROJECT_SOURCE_DIR}/tests/support")
  add_test(NAME ${name} COMMAND ${TILERAIL_PYTHON} -m unittest -v ${module} WORKING_DIRECTORY ${folder})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 3600
                       ENVIRONMENT "${program};${places};PYTHONDONTWRITEBYTECODE=1;MPLBACKEND=Agg")
endfunction()

# tilerail_find_nanobind(): nanobind of the interpreter Python_EXECUTABLE, else of the first on the path. A macro, since
# nanobind's functions need the variables of find_package.
macro(tilerail_find_nanobind)
  if(NOT TILERAIL_PYTHON_PACKAGE STREQUAL "OFF")
    find_package(Python 3.10 COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule QUIET)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_package(nanobind CONFIG QUIET HINTS ${nanobind_ROOT})
  endif()
  if(nanobind_FOUND AND Python_Development.Module_FOUND)
    tilerail_feature(TILERAIL_PYTHON_PACKAGE TRUE)
  else()
    tilerail_feature(TILERAIL_PYTHON_PACKAGE FALSE)
  endif()
  message(STATUS "Python package: ${TILERAIL_PYTHON_PACKAGE_ENABLED}")
endmacro()

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
