// The texts below the folder, in one pass over the archive.
#include "deploy/migration_texts.h"

#include "bundle/archive/archive_reader.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxTextBytes = 4 << 20;

Result<migrate::Texts> texts_of(Disk& disk, const std::string& archive, const std::string& folder) {
  auto reader = bundle::open_archive(disk, archive);
  if (!reader) return reader.error();
  migrate::Texts texts;
  const std::string below = folder + "/";
  while (true) {
    auto entry = (*reader)->next();
    if (!entry) return entry.error();
    if (!*entry) return texts;
    if ((*entry)->kind != bundle::EntryKind::file || !(*entry)->path.starts_with(below)) continue;
    std::string text;
    while (true) {
      auto piece = (*reader)->read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      text.append(*piece);
      if (text.size() > kMaxTextBytes) {
        return Error{.code = Code::limit, .message = (*entry)->path + " is too large for a migration"};
      }
    }
    texts[(*entry)->path.substr(below.size())] = std::move(text);
  }
}

}  // namespace

Result<migrate::Migrations> migrations_in(Disk& disk, const std::string& archive, const bundle::Migrations& settings) {
  auto texts = texts_of(disk, archive, settings.folder.text);
  if (!texts) return texts.error();
  if (texts->empty()) {
    return Error{.code = Code::invalid, .message = "the bundle has nothing in its folder " + settings.folder.text};
  }
  return migrate::read_migrations(settings.file ? migrate::Engine::sqlite : migrate::Engine::postgres, *texts);
}

}  // namespace sluice::deploy
