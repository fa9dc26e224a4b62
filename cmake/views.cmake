# How views are registered: sluice_views(KIT NAMESPACE ns FOLDERS concept:folder…) adds a source to KIT that defines
# ns::views::all_views(), with what each `std::vector<lang::View> …_views()` gives that is defined in views/ or, for a view
# of one concept, beside that concept's handlers. As a script (cmake -P) this file makes that source.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(sluice_views kit)
    cmake_parse_arguments(arg "" "NAMESPACE" "FOLDERS" ${ARGN})
    set(out ${CMAKE_BINARY_DIR}/registered/${kit}_views.gen.cc)
    foreach(place views:views ${arg_FOLDERS})
      string(REGEX REPLACE "(.*):(.*)" "\\2/*.cc" found ${place})
      file(GLOB found CONFIGURE_DEPENDS ${found})
      list(FILTER found EXCLUDE REGEX "_test\\.cc$")
      list(APPEND sources ${found})
    endforeach()
    add_custom_command(
      OUTPUT ${out}
      COMMAND ${CMAKE_COMMAND} -DKIT=${kit} -DNAMESPACE=${arg_NAMESPACE} -DROOT=${CMAKE_CURRENT_SOURCE_DIR}
              "-DPLACES=views:views;${arg_FOLDERS}" -DOUT=${out} -P ${CMAKE_SOURCE_DIR}/cmake/views.cmake
      DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/cmake/views.cmake
      COMMENT "list the views of ${kit}"
      VERBATIM)
    target_sources(${kit} PRIVATE ${out})
    set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endfunction()
  return()
endif()

set(declared "")
set(listed "")
set(defines "^std::vector<lang::View> ([a-z0-9_]+_views)\\(\\) {$")
foreach(place ${PLACES})
  string(REGEX REPLACE ":.*" "" space ${place})
  string(REGEX REPLACE ".*:" "" folder ${place})
  file(GLOB sources ${ROOT}/${folder}/*.cc)
  foreach(source ${sources})
    file(STRINGS ${source} functions REGEX "${defines}")
    list(TRANSFORM functions REPLACE "${defines}" "\\1")
    foreach(function ${functions})
      string(APPEND declared "namespace ${space} {\nstd::vector<lang::View> ${function}();\n}\n")
      string(APPEND listed "           ${space}::${function}(),\n")
    endforeach()
  endforeach()
endforeach()
# Written only if it differs, so that nothing is compiled again.
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[// The views that views/ and the concepts define. Made by cmake/views.cmake.
#include <initializer_list>

#include "@KIT@/views/all_views.h"

namespace @NAMESPACE@ {

@declared@
std::vector<lang::View> views::all_views() {
  std::vector<lang::View> all;
  for (const std::vector<lang::View>& some : std::initializer_list<std::vector<lang::View>>{
@listed@       }) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace @NAMESPACE@
]])
