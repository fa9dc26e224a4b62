// Formatting keeps meaning and comments and is idempotent. The first byte picks the language: `c` for a concept,
// anything else for syncs.
// covers: src/lang/format/format.cc src/lang/format/layout.cc src/lang/format/comment_places.cc
// src/lang/format/print.cc
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "lang/format/format.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/sync_parser.h"

namespace {

using namespace sluice::lang;

std::vector<std::string> texts_of(const std::vector<Comment>& comments) {
  std::vector<std::string> texts;
  for (const auto& comment : comments) texts.push_back(comment.text);
  std::ranges::sort(texts);
  return texts;
}

template <typename Parse>
void check(Parse parse, std::string_view text) {
  Diagnostics found;
  auto first = parse(text, "x", found);
  if (!first) return;
  std::string once = format(*first);
  auto second = parse(once, "x", found);
  if (!second || !(*first == *second)) std::abort();
  if (texts_of(first->comments) != texts_of(second->comments)) std::abort();
  if (format(*second) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  if (bytes[0] == 'c') {
    check(parse_concept, text);
  } else {
    check(parse_sync, text);
  }
  return 0;
}
