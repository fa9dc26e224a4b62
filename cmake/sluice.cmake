# How a folder becomes a target.
#
# Rings are kept by include roots: target `lang` sees roots/lang/, in which `lang` is a link to src/lang, and the
# roots of the targets that it links, nothing else. So `#include "engine/engine.h"` in src/lang/ does not compile.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
# Assertions stay on in release builds: no NDEBUG.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
# Designated initializers leave out the fields that keep their defaults; that is their point.
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers -fno-omit-frame-pointer)
# What ccache needs to keep objects that were built with a precompiled header.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
else()
  add_compile_options(-fpch-preprocess)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all -g1 -O1)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
endif()
# libFuzzer steers by the branches an input takes, so the parsers must count them, not the fuzz targets alone.
if(SLUICE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(SLUICE_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping -O0)
  add_link_options(-fprofile-instr-generate -fcoverage-mapping)
endif()

set(Boost_NO_BOOST_CMAKE OFF)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

if(SLUICE_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# sluice_root(TARGET FOLDER): gives TARGET the include root in which FOLDER's name leads to FOLDER.
function(sluice_root target folder)
  set(root ${CMAKE_BINARY_DIR}/roots/${folder})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${folder} ${root}/${folder} SYMBOLIC)
  target_include_directories(${target} PUBLIC ${root})
endfunction()

# sluice_folder(NAME [LINK target…]): src/NAME as a library `NAME` of all its .cc files, and its *_test.cc files as
# one test program `NAME_test`, whose tests get the properties in SLUICE_TEST_PROPERTIES as well. Every header is also
# compiled alone (target all_verify_interface_header_sets).
function(sluice_folder name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(${name} STATIC ${sources})
  sluice_root(${name} ${name})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_BINARY_DIR}/roots/${name}/${name}/*.h)
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(headers AND SLUICE_TESTS)
    target_sources(${name} PUBLIC FILE_SET headers TYPE HEADERS
                   BASE_DIRS ${CMAKE_BINARY_DIR}/roots/${name} FILES ${headers})
    set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
  if(SLUICE_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} GTest::gtest GTest::gmock GTest::gtest_main)
    target_precompile_headers(${name}_test PRIVATE <gmock/gmock.h> <gtest/gtest.h> <string> <vector>)
    target_compile_definitions(${name}_test PRIVATE SLUICE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT 300 ${SLUICE_TEST_PROPERTIES})
  endif()
endfunction()
