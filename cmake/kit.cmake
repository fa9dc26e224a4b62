# How the folder of a kit becomes a library: everything that would be a list of its concepts follows from its suite.yaml.
#
# A concept is an object library of its own, `deploy_traffic`, with include roots of its own: it sees its folder, what is
# made of its `.concept`, what the kit's concepts share (the headers beside suite.yaml and the folders that have no
# concepts, such as views/), and what the kit links, nothing else. So `#include "revision.gen.h"` in
# concepts/traffic/ does not compile, nor does a shared header that includes it; and a change of one `.concept`
# compiles that concept again and whoever includes its headers.

# sluice_suite(): reads suite.yaml of this folder; `kit_names` has the concepts (Traffic), `kit_stems` their files' names
# without ending (traffic), `kit_specs` their files (concepts/traffic/traffic.concept), all in the order of suite.yaml,
# and `kit_files` all files of the kit. DeployKit tests that the lists are those that `kit check` reads.
macro(sluice_suite)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS suite.yaml)
  file(READ suite.yaml kit_suite)
  string(REGEX REPLACE "#[^\n]*" "" kit_suite "${kit_suite}")
  string(REGEX MATCHALL "\\./[^ \n]+\\.(concept|sync)" kit_files "${kit_suite}")
  list(TRANSFORM kit_files REPLACE "^\\./" "")
  list(PREPEND kit_files suite.yaml)
  string(REGEX MATCHALL "[A-Za-z0-9]+:[ \n]+spec: [^ \n]+" kit_specs "${kit_suite}")
  set(kit_names ${kit_specs})
  list(TRANSFORM kit_names REPLACE ":.*" "")
  list(TRANSFORM kit_specs REPLACE ".*spec: \\./" "")
  set(kit_stems ${kit_specs})
  list(TRANSFORM kit_stems REPLACE "(.*/)?([^/]+)\\.concept$" "\\2")
  list(TRANSFORM kit_stems REPLACE "-" "_")
endmacro()

# sluice_register(TARGET NAMESPACE ns FUNCTION name): after sluice_suite, adds a source to TARGET that defines
# `std::vector<const lang::ConceptBinding*> ns::name()`: the concepts in the order of suite.yaml.
function(sluice_register target)
  cmake_parse_arguments(arg "" "NAMESPACE;FUNCTION" "" ${ARGN})
  set(declared "")
  set(listed "")
  foreach(stem ${kit_stems})
    string(APPEND declared "namespace ${stem} {\nconst lang::ConceptBinding& ${stem}_binding();\n}\n")
    string(APPEND listed "      &${stem}::${stem}_binding(),\n")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/registered/${target}.gen.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[// The concepts of suite.yaml. Made by cmake/kit.cmake.
#include <vector>

#include "lang/run/handler.h"

namespace @arg_NAMESPACE@ {

@declared@
std::vector<const lang::ConceptBinding*> @arg_FUNCTION@() {
  return {
@listed@  };
}

}  // namespace @arg_NAMESPACE@
]])
  target_sources(${target} PRIVATE ${source})
endfunction()

# sluice_states(KIT): after sluice_suite, makes "KIT/views/states.h" of views/states.h.in.
function(sluice_states kit)
  foreach(stem name IN ZIP_LISTS kit_stems kit_names)
    string(APPEND kit_state_names "namespace ${stem} {\nclass State;\n}\n")
    string(APPEND kit_state_readers "  template <class State = ${stem}::State>\n"
           "  const State ${stem}() const {\n    return State(${stem}_);\n  }\n")
    string(APPEND kit_state_rows "  mutable lang::ReadOnlyRows ${stem}_{snapshot_.rows_of(\"${name}\")};\n")
  endforeach()
  configure_file(views/states.h.in ${CMAKE_BINARY_DIR}/registered/${kit}/${kit}/views/states.h @ONLY)
endfunction()

# sluice_kit(KIT NAMESPACE ns [COLD]): after sluice_folder(KIT … KIT), adds the concepts of suite.yaml to the library KIT, their
# tests to KIT_test, and the texts of the kit.
function(sluice_kit kit)
  cmake_parse_arguments(arg "COLD" "NAMESPACE" "" ${ARGN})
  sluice_suite()
  # What concepts share: all but the folders that have concepts.
  set(root ${CMAKE_BINARY_DIR}/roots/${kit}.shared)
  file(MAKE_DIRECTORY ${root}/${kit})
  file(GLOB shared CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *)
  list(TRANSFORM kit_specs REPLACE "/.*" "" OUTPUT_VARIABLE concept_folders)
  list(REMOVE_ITEM shared ${concept_folders})
  list(FILTER shared INCLUDE REGEX "\\.h$|^[^.]+$")
  foreach(each ${shared})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${each} ${root}/${kit}/${each} SYMBOLIC)
  endforeach()
  get_target_property(inner ${kit} LINK_LIBRARIES)
  sluice_states(${kit})
  set(roots ${root} ${CMAKE_BINARY_DIR}/registered/${kit})
  target_include_directories(${kit} PUBLIC ${roots})

  foreach(stem spec IN ZIP_LISTS kit_stems kit_specs)
    get_filename_component(folder ${spec} DIRECTORY)
    set(target ${kit}_${stem})
    list(APPEND view_folders ${stem}:${folder})
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
    set(tests ${sources})
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    list(FILTER tests INCLUDE REGEX "_test\\.cc$")
    add_library(${target} OBJECT ${sources})
    sluice_compile_as_product(${target} ${ARGN})
    sluice_root(${target} ${kit}/${folder})
    target_include_directories(${target} PRIVATE ${roots})
    target_link_libraries(${target} PUBLIC ${inner})
    target_link_libraries(${kit} PUBLIC ${target})
    if(SLUICE_TESTS)
      target_sources(${kit}_test PRIVATE ${tests})
    endif()
    sluice_concepts(${target} NAMESPACE ${arg_NAMESPACE} TEST ${kit}_test FILES ${spec})
  endforeach()
  sluice_embed(${kit} ${kit_files})
  sluice_register(${kit} NAMESPACE ${arg_NAMESPACE} FUNCTION registered)
  sluice_views(${kit} NAMESPACE ${arg_NAMESPACE} FOLDERS ${view_folders})
  # What concepts share reads none of them and is compiled apart from the views. Six views together take half the time of
  # six alone; more would be compiled again for concepts that few of them read. So with tests.
  get_target_property(shared ${kit} SOURCES)
  set(views ${shared})
  list(FILTER shared EXCLUDE REGEX "/views/")
  list(FILTER views INCLUDE REGEX "/views/")
  set_source_files_properties(${shared} PROPERTIES UNITY_GROUP shared)
  set(number 0)
  foreach(view ${views})
    math(EXPR batch "${number} / 6")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${view} PROPERTIES UNITY_GROUP views${batch})
  endforeach()
  set_target_properties(${kit} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(SLUICE_TESTS)
    set_target_properties(${kit}_test PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
