// Archives for tests, made byte by byte so that they can be as wrong as a test wants: tar and zip from headers that say
// anything, SquashFS images of trees that no packer would make.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/testing_volatile_disk.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/archive/squash_writer.h"
#include "bundle/archive/tree.h"
#include "bundle/trust/verify.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

struct TarMember {
  std::string name;
  std::string content;
  char type = '0';  // 0 file, 1 hard link, 2 symlink, 3 and 4 devices, 5 folder, 6 FIFO
  std::string link;
  unsigned mode = 0644;
  std::optional<uint64_t> said_size;  // instead of the content's
};

inline std::string tar_member(const TarMember& member) {
  std::string header(512, '\0');
  auto put = [&](size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  auto octal = [](uint64_t number, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(number));
    return std::string(text);
  };
  put(0, member.name.substr(0, 100));
  put(100, octal(member.mode, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(member.said_size.value_or(member.content.size()), 11));
  put(136, octal(0, 11));
  put(148, "        ");
  header[156] = member.type;
  put(157, member.link.substr(0, 100));
  put(257, std::string("ustar\0"
                       "00",
                       8));
  uint64_t sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  put(148, octal(sum, 6) + std::string(1, '\0') + " ");
  std::string padding((512 - member.content.size() % 512) % 512, '\0');
  return header + member.content + padding;
}

inline std::string tar_of(const std::vector<TarMember>& members) {
  std::string tar;
  for (const TarMember& member : members) tar += tar_member(member);
  return tar + std::string(1024, '\0');
}

// The special member that says more of the one behind it.
inline TarMember pax_member(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string records;
  for (const auto& [key, value] : fields) {
    const std::string rest = " " + key + "=" + value + "\n";
    size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length) ++length;
    records += std::to_string(length) + rest;
  }
  return {.name = "pax", .content = records, .type = 'x'};
}

// The bytes through one of libarchive's filters.
enum class Squeeze { gzip, zstd, xz, bzip2, lz4, lzma };
inline std::string squeezed(std::string_view bytes, Squeeze by) {
  std::string out(bytes.size() + 65536, '\0');
  size_t used = 0;
  struct archive* writer = archive_write_new();
  archive_write_set_format_raw(writer);
  if (by == Squeeze::gzip) archive_write_add_filter_gzip(writer);
  if (by == Squeeze::zstd) archive_write_add_filter_zstd(writer);
  if (by == Squeeze::xz) archive_write_add_filter_xz(writer);
  if (by == Squeeze::bzip2) archive_write_add_filter_bzip2(writer);
  if (by == Squeeze::lz4) archive_write_add_filter_lz4(writer);
  if (by == Squeeze::lzma) archive_write_add_filter_lzma(writer);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, out.data(), out.size(), &used);
  struct archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "content");
  archive_entry_set_filetype(entry, AE_IFREG);
  if (archive_write_header(writer, entry) != ARCHIVE_OK) std::abort();
  archive_write_data(writer, bytes.data(), bytes.size());
  archive_write_close(writer);
  archive_entry_free(entry);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

struct ZipMember {
  std::string name;
  std::string content;
  uint32_t mode = 0100644;                      // with the type's bits
  std::optional<uint32_t> said_size;            // instead of the content's
  std::optional<std::string> listed_name = {};  // in the directory, instead of the name
  bool sizes_behind = false;                    // its sum and sizes stand behind it, and zeros before it
};

inline uint32_t crc32_of(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320 & (0 - (crc & 1)));
  }
  return ~crc;
}

// Stored, not compressed.
inline std::string zip_of(const std::vector<ZipMember>& members) {
  auto number = [](uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::string zip;
  std::string directory;
  for (const ZipMember& member : members) {
    uint32_t size = static_cast<uint32_t>(member.content.size());
    const std::string& listed = member.listed_name ? *member.listed_name : member.name;
    const std::string sizes =
        number(crc32_of(member.content), 4) + number(size, 4) + number(member.said_size.value_or(size), 4);
    auto common = [&](const std::string& name, const std::string& said) {
      return number(20, 2) + number(member.sizes_behind ? 0x808 : 0x800, 2) + number(0, 2) + number(0, 4) + said +
             number(name.size(), 2) + number(0, 2);
    };
    directory += "PK\x01\x02" + number(3 << 8 | 20, 2) + common(listed, sizes) + number(0, 2) + number(0, 2) +
                 number(0, 2) + number(static_cast<uint64_t>(member.mode) << 16, 4) + number(zip.size(), 4) + listed;
    zip += "PK\x03\x04" + common(member.name, member.sizes_behind ? std::string(12, '\0') : sizes) + member.name +
           member.content;
    if (member.sizes_behind) zip += "PK\x07\x08" + sizes;
  }
  uint64_t at = zip.size();
  return zip + directory + "PK\x05\x06" + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) +
         number(directory.size(), 4) + number(at, 4) + number(0, 2);
}

inline TreeEntry tree_file(std::string path, std::string_view content, uint32_t mode = kFileMode) {
  return {.path = std::move(path),
          .kind = EntryKind::file,
          .mode = mode,
          .size = content.size(),
          .sha256 = crypto::to_hex(crypto::sha256(content))};
}
inline TreeEntry tree_symlink(std::string path, std::string target) {
  return {.path = std::move(path), .kind = EntryKind::symlink, .mode = kSymlinkMode, .target = std::move(target)};
}
inline TreeEntry tree_folder(std::string path) {
  return {.path = std::move(path), .kind = EntryKind::dir, .mode = kFolderMode};
}

// A SquashFS image; symlinks and folders as in the tree, files with these contents.
inline std::string squash_of(const std::map<std::string, std::string>& files, const std::vector<TreeEntry>& others = {},
                             unsigned workers = 1) {
  VolatileDisk disk;
  auto file = disk.open("/image", {.write = true, .create = true});
  if (!file) std::abort();
  auto writer = SquashWriter::begin(**file, workers);
  if (!writer) std::abort();
  Tree tree;
  for (const auto& [path, content] : files) {
    if (!(*writer)->begin_file(path) || !(*writer)->append(content) || !(*writer)->end_file()) std::abort();
    tree.add(tree_file(path, content));
  }
  for (const TreeEntry& entry : others) tree.add(entry);
  if (!(*writer)->finish(tree)) std::abort();
  std::string bytes(*(*file)->size(), '\0');
  if (!(*file)->read_at(0, bytes)) std::abort();
  return bytes;
}

// What an archive is, or the message that refuses it.
inline Result<Tree> tree_of_bytes(std::string bytes, const OpenOptions& options = {}) {
  auto reader = open_archive(source_of_bytes(std::move(bytes)), "app", options);
  if (!reader) return reader.error();
  return tree_of(**reader);
}
inline std::string refusal_of_bytes(std::string bytes, const OpenOptions& options = {}) {
  auto tree = tree_of_bytes(std::move(bytes), options);
  return tree ? "accepted" : tree.error().message;
}

}  // namespace sluice::bundle
