// Lint: a migration of any text is looked at to its end, for PostgreSQL and for SQLite, and findings have a place.
// covers: src/migrate/lint.cc src/migrate/parse_tree.cc src/migrate/lint_postgres.cc src/migrate/lint_sqlite.cc
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>

#include "migrate/lint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::migrate;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto lines = static_cast<uint32_t>(std::ranges::count(text, '\n') + 1);
  for (const Engine engine : {Engine::postgres, Engine::sqlite}) {
    auto migrations = read_migrations(engine, {{"0001_a/expand.sql", text}, {"0001_a/contract.sql", text}});
    if (!migrations) continue;
    for (const Impact& impact : Linter(engine).look(migrations->front())) {
      assert(impact.line >= 1 && impact.line <= lines);
      for (const Finding& each : impact.findings) {
        assert(each.line >= impact.line && each.line <= lines && !each.message.empty());
      }
    }
  }
  return 0;
}
