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
  # Collecting its garbage would walk the precompiled header again and again: a file takes a tenth longer. So a compiler
  # may take 2 GB before it does.
  add_compile_options("SHELL:--param ggc-min-heapsize=2097152")
endif()

# ccache is to keep objects built with precompiled headers: a script of that name, which clang-tidy knows, sets it up.
find_program(CCACHE ccache)
if(CCACHE)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/ccache @ONLY CONTENT [[#!/bin/sh
export CCACHE_BASEDIR='@CMAKE_SOURCE_DIR@'
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
exec '@CCACHE@' "$@"
]])
  file(CHMOD ${CMAKE_BINARY_DIR}/ccache PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ WORLD_READ)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_BINARY_DIR}/ccache)
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_program(LLD ld.lld-16 REQUIRED)
# What nobody calls stays out of what is shipped.
add_link_options(-Wl,--gc-sections)

# Sources are compiled sixteen together: what they include is read, and what they instantiate is made, once for all of
# them, which takes a quarter of the time. So names at file scope must differ between neighbours; each test file has a
# namespace of its own.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
# A type that a class of the same source hides in an unnamed namespace is fine: no header has it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-subobject-linkage)
endif()

if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all -g1 -O1)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  # libsquashfs forgets the blocks that are on their way when its output fails.
  set(SLUICE_TEST_PROPERTIES ENVIRONMENT_MODIFICATION
      LSAN_OPTIONS=set:suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0)
endif()
# libFuzzer steers by the branches an input takes, so the parsers must count them, not the fuzz targets alone.
if(SLUICE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(SLUICE_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping -O0)
  add_link_options(-fprofile-instr-generate -fcoverage-mapping)
endif()

# Libraries become part of the program: it runs on a machine that has none of them, and starts in half the time.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
set(Boost_NO_BOOST_CMAKE OFF)
set(Boost_USE_STATIC_LIBS ON)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(SQUASHFS REQUIRED IMPORTED_TARGET libsquashfs1)
pkg_check_modules(ARCHIVE REQUIRED IMPORTED_TARGET libarchive)
# What these need themselves; of libarchive only the formats that are read are linked, and with them what those need.
find_library(UTF8PROC utf8proc REQUIRED)
find_library(HIREDIS hiredis REQUIRED)
find_library(NGHTTP2 nghttp2 REQUIRED)
find_library(RE2 libre2.a REQUIRED)
find_library(PG_QUERY libpg_query.a REQUIRED)
foreach(library z lzma lz4 bz2 nettle)
  find_library(inner_${library} ${library} REQUIRED)
  target_link_libraries(PkgConfig::SQUASHFS INTERFACE ${inner_${library}} PkgConfig::ZSTD)
  target_link_libraries(PkgConfig::ARCHIVE INTERFACE ${inner_${library}} PkgConfig::ZSTD)
endforeach()
target_link_libraries(SQLite::SQLite3 INTERFACE m)
if(NOT SLUICE_SANITIZE AND NOT SLUICE_COVERAGE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

find_package(GTest REQUIRED)  # benchmarks use what tests share
if(SLUICE_TESTS)
  enable_testing()
  include(GoogleTest)
endif()

# Three precompiled headers, made once and used by everything: what nearly every source reads anyway, the same for what is
# compiled to be small, and the same with GoogleTest for the test programs. Tests are not optimised: most of what they run
# is in the libraries, which are, and compiling them is most of a clean build.
set(SLUICE_COMMON_HEADERS <boost/json.hpp> <algorithm> <cstdint> <functional> <map> <memory> <optional> <set>
    <string> <string_view> <unordered_map> <utility> <variant> <vector>)
set(SLUICE_TEST_OPTIMISATION -O0)
file(WRITE ${CMAKE_BINARY_DIR}/precompiled/empty.cc "")
add_library(common_headers OBJECT ${CMAKE_BINARY_DIR}/precompiled/empty.cc)
target_link_libraries(common_headers PUBLIC Boost::json Threads::Threads)
target_precompile_headers(common_headers PRIVATE ${SLUICE_COMMON_HEADERS})
add_library(cold_headers OBJECT ${CMAKE_BINARY_DIR}/precompiled/empty.cc)
target_link_libraries(cold_headers PUBLIC Boost::json Threads::Threads)
target_compile_options(cold_headers PRIVATE -Os -ffunction-sections)
target_precompile_headers(cold_headers PRIVATE ${SLUICE_COMMON_HEADERS})
if(SLUICE_TESTS)
  add_library(test_headers OBJECT ${CMAKE_BINARY_DIR}/precompiled/empty.cc)
  target_link_libraries(test_headers PUBLIC Boost::json Threads::Threads GTest::gtest GTest::gmock)
  target_compile_options(test_headers PRIVATE ${SLUICE_TEST_OPTIMISATION})
  target_precompile_headers(test_headers PRIVATE ${SLUICE_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  # Where the sources lie, for the tests that read them (base/testing_source.h): in an object of its own, so that the
  # command lines of the tests are the same in every clone and ccache knows them again.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/source.cc CONTENT
       "namespace sluice { extern const char* const kSourceDir = \"${CMAKE_SOURCE_DIR}\"; }\n")
  add_library(testing_source STATIC ${CMAKE_BINARY_DIR}/precompiled/source.cc)
endif()

# sluice_compile_as_test(TARGET): for code that only tests run.
function(sluice_compile_as_test target)
  # A precompiled header serves only those that are compiled with the options that it was made with.
  target_compile_options(${target} PRIVATE ${SLUICE_TEST_OPTIMISATION}
                         $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
  target_precompile_headers(${target} REUSE_FROM test_headers)
endfunction()

# sluice_only_check(TARGET): for an object library that must compile and that nothing links: its sources are checked,
# templates included, and no code is made of them, which takes a third of the time.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/only_check @ONLY CONTENT [[#!/bin/sh
"$@" || exit
while [ "$1" != -o ]; do shift; done
: > "$2"  # the object that the build looks for
]])
file(CHMOD ${CMAKE_BINARY_DIR}/only_check PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ WORLD_READ)
function(sluice_only_check target)
  target_compile_options(${target} PRIVATE -fsyntax-only)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER ${CMAKE_BINARY_DIR}/only_check)
endfunction()

# sluice_test(NAME LIBRARY SOURCE…): a GoogleTest program, whose tests get the properties in SLUICE_TEST_PROPERTIES as well.
function(sluice_test name library)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${library} GTest::gtest GTest::gmock GTest::gtest_main testing_source)
  sluice_compile_as_test(${name})
  string(REGEX REPLACE "_test$" "" prefix ${name})
  gtest_discover_tests(${name} TEST_PREFIX "${prefix}." DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT 300 ${SLUICE_TEST_PROPERTIES})
endfunction()

# sluice_root(TARGET FOLDER): gives TARGET the include root in which FOLDER, named from src/, leads to FOLDER.
function(sluice_root target folder)
  string(REPLACE "/" "." name ${folder})
  set(root ${CMAKE_BINARY_DIR}/roots/${name})
  get_filename_component(above ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${above})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${folder} ${root}/${folder} SYMBOLIC)
  target_include_directories(${target} PUBLIC ${root})
endfunction()

# sluice_compile_as_product(TARGET [COLD]): for code that is shipped. What runs once a command or a call (COLD) is compiled
# to be small, in two thirds of the time and of the bytes, and is not slower to anybody's eye.
function(sluice_compile_as_product target)
  if("COLD" IN_LIST ARGN AND NOT SLUICE_SANITIZE AND NOT SLUICE_COVERAGE)
    target_precompile_headers(${target} REUSE_FROM cold_headers)
    # With less of it gcc takes optionals for uninitialised that are not.
    target_compile_options(${target} PRIVATE -Os -ffunction-sections $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  else()
    target_precompile_headers(${target} REUSE_FROM common_headers)
  endif()
endfunction()

# sluice_testing(NAME [SOURCE…]): the library `NAME_testing`, which brings the ones of the inner folders along. It is there
# without the tests, too: benchmarks use it.
function(sluice_testing name)
  if(ARGN)
    add_library(${name}_testing STATIC EXCLUDE_FROM_ALL ${ARGN})
    set(scope PUBLIC)
    target_link_libraries(${name}_testing PUBLIC GTest::gtest GTest::gmock)
    if(SLUICE_TESTS)
      sluice_compile_as_test(${name}_testing)
    endif()
  else()
    add_library(${name}_testing INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${name}_testing ${scope} ${name})
  get_target_property(inner ${name} LINK_LIBRARIES)
  foreach(folder ${inner})
    if(TARGET ${folder}_testing)
      target_link_libraries(${name}_testing ${scope} ${folder}_testing)
    endif()
  endforeach()
endfunction()

# sluice_headers(NAME HEADER…): each header of the folder as a source of its own, built by the target `headers`. The
# precompiled header would hide that one is missing from the standard library: `tests/tidy` looks for those.
add_custom_target(headers)
function(sluice_headers name)
  foreach(header ${ARGN})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(REPLACE_EXTENSION header cc OUTPUT_VARIABLE source)
    set(source ${CMAKE_BINARY_DIR}/alone/${name}/${source})
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${name}/${header}\"\n")
    list(APPEND alone ${source})
  endforeach()
  add_library(${name}_headers OBJECT EXCLUDE_FROM_ALL ${alone})
  target_link_libraries(${name}_headers PRIVATE ${name} ${name}_testing)
  if(TARGET GTest::gtest)
    target_link_libraries(${name}_headers PRIVATE GTest::gtest GTest::gmock)
  endif()
  set_target_properties(${name}_headers PROPERTIES UNITY_BUILD OFF)
  target_precompile_headers(${name}_headers REUSE_FROM common_headers)
  add_dependencies(headers ${name}_headers)
endfunction()

# sluice_folder(NAME [COLD] [KIT] [PARTS folder…] [LINK target…]): src/NAME, with the sub-folders that PARTS names, as a
# library `NAME` of all its .cc files, its *_test.cc files as one test program `NAME_test`, and what its tests share with
# those of outer folders, its testing_*.cc files, as `NAME_testing`, which nothing that is shipped links. Every header is
# also compiled alone (target `headers`). A KIT has concepts besides, which get include roots of their own: sluice_kit.
function(sluice_folder name)
  cmake_parse_arguments(arg "COLD;KIT" "" "PARTS;LINK" ${ARGN})
  set(header_places *.h)
  set(source_places *.cc)
  foreach(part ${arg_PARTS})
    list(APPEND header_places ${part}/*.h)
    list(APPEND source_places ${part}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${source_places})
  set(tests ${sources})
  set(testing ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|main)\\.cc$|/testing_[^/]*$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER testing INCLUDE REGEX "/testing_[^/]*$")
  add_library(${name} STATIC ${sources})
  if(NOT arg_KIT)
    sluice_root(${name} ${name})
  endif()
  file(GLOB headers CONFIGURE_DEPENDS ${header_places})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  sluice_compile_as_product(${name} ${ARGN})
  if(headers AND SLUICE_TESTS)
    sluice_headers(${name} ${headers})
  endif()
  sluice_testing(${name} ${testing})
  if(SLUICE_TESTS AND tests)
    sluice_test(${name}_test ${name}_testing ${tests})
  endif()
endfunction()

# sluice_allocator(TARGET): a program whose memory jemalloc gives out. The engine makes and drops many small values, of
# which glibc's malloc takes a fifth of the writer's time. Sanitizers bring an allocator of their own.
function(sluice_allocator target)
  if(NOT SLUICE_SANITIZE)
    target_link_libraries(${target} PRIVATE PkgConfig::JEMALLOC)
  endif()
endfunction()
