# How the texts of a kit become part of a program: sluice_embed(TARGET FILE…) adds a source to TARGET that defines
# sluice::TARGET::kit_files(), sorted by path. As a script (cmake -P) this file makes that source.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(sluice_embed target)
    list(SORT ARGN)
    set(out ${CMAKE_BINARY_DIR}/embedded/${target}_kit_files.gen.cc)
    add_custom_command(
      OUTPUT ${out}
      COMMAND ${CMAKE_COMMAND} -DTARGET=${target} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR} "-DFILES=${ARGN}" -DOUT=${out}
              -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
      COMMENT "embed ${target}"
      VERBATIM)
    target_sources(${target} PRIVATE ${out})
    # By itself: whoever edits a text of the kit is not to wait for sources that stand beside it by chance.
    set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endfunction()
  return()
endif()

set(source "// Made by cmake/embed.cmake.\n#include \"${TARGET}/${TARGET}_kit.h\"\n\nnamespace sluice::${TARGET} {\n")
string(APPEND source "namespace {\nconstexpr KitFile kFiles[] = {\n")
foreach(file ${FILES})
  file(READ ${FOLDER}/${file} text)
  string(APPEND source "    {\"${file}\", R\"sluice(${text})sluice\"},\n")
endforeach()
string(APPEND source "};\n}  // namespace\n\nstd::span<const KitFile> kit_files() { return kFiles; }\n\n")
string(APPEND source "}  // namespace sluice::${TARGET}\n")
file(WRITE ${OUT} "${source}")
