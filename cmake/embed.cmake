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

# A kit's texts are a seventh of their size when they are compressed together.
set(texts ${OUT}.texts)
file(WRITE ${texts} "")
set(parts "")
set(size 0)
foreach(file ${FILES})
  file(READ ${FOLDER}/${file} text)
  file(APPEND ${texts} "${text}")
  string(LENGTH "${text}" length)
  math(EXPR size "${size} + ${length}")
  string(APPEND parts "    {\"${file}\", ${length}},\n")
endforeach()
file(ARCHIVE_CREATE OUTPUT ${texts}.zst PATHS ${texts} FORMAT raw COMPRESSION Zstd COMPRESSION_LEVEL 9)
file(READ ${texts}.zst packed HEX)
file(REMOVE ${texts} ${texts}.zst)
string(REGEX REPLACE "(..)" "0x\\1," packed "${packed}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
       "    \\1\n" packed "${packed}")

file(WRITE ${OUT} "// Made by cmake/embed.cmake.
#include <zstd.h>

#include <stdexcept>

#include \"${TARGET}/${TARGET}_kit.h\"

namespace sluice::${TARGET} {
namespace {

struct PackedText {
  std::string_view path;
  size_t size;
};
constexpr PackedText kTexts[] = {
${parts}};
constexpr unsigned char kPacked[] = {
${packed}};

// Its files are views of this text, which is unpacked when the first of them is asked for.
std::string unpacked() {
  std::string all(${size}, '\\0');
  const size_t size = ZSTD_decompress(all.data(), all.size(), kPacked, sizeof(kPacked));
  if (size != all.size()) throw std::logic_error(\"the kit in this program is damaged\");
  return all;
}

std::vector<KitFile> files_in(std::string_view all) {
  std::vector<KitFile> files;
  for (const PackedText& each : kTexts) {
    files.push_back({each.path, all.substr(0, each.size)});
    all.remove_prefix(each.size);
  }
  return files;
}

}  // namespace

std::span<const KitFile> kit_files() {
  static const std::string kAll = unpacked();
  static const std::vector<KitFile> kFiles = files_in(kAll);
  return kFiles;
}

}  // namespace sluice::${TARGET}
")
