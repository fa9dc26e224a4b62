// The catalogues of both databases as one list of objects.
#include "migrate/schema.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/sha256.h"
#include "migrate/sql_text.h"

namespace sluice::migrate {
namespace {

// kind, name, definition, of. A column's name is that of its table and its own.
constexpr const char* kPostgres = R"sql(
WITH space AS (
  SELECT oid, nspname FROM pg_namespace
  WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'sluice')
), rel AS (
  SELECT c.oid, c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, c.relispartition, c.reloptions,
         format('"%s"."%s"', replace(n.nspname, '"', '""'), replace(c.relname, '"', '""')) AS name
  FROM pg_class c JOIN space n ON n.oid = c.relnamespace
  WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
)
SELECT 'table', r.name,
       concat_ws(' ', r.relkind, r.relpersistence, r.relrowsecurity, r.relforcerowsecurity, r.reloptions::text,
                 pg_get_partkeydef(r.oid), (SELECT pg_get_expr(c.relpartbound, c.oid) FROM pg_class c WHERE c.oid = r.oid)), ''
  FROM rel r WHERE r.relkind IN ('r', 'p', 'f')
UNION ALL
SELECT 'column', r.name || '."' || replace(a.attname, '"', '""') || '"',
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
                 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated,
                 (SELECT collname FROM pg_collation c WHERE c.oid = a.attcollation)), r.name
  FROM rel r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE r.relkind IN ('r', 'p', 'f')
UNION ALL
SELECT 'constraint', r.name || '."' || replace(k.conname, '"', '""') || '"', pg_get_constraintdef(k.oid), r.name
  FROM pg_constraint k JOIN rel r ON r.oid = k.conrelid WHERE k.contype IN ('c', 'f', 'p', 'u', 'x') AND k.coninhcount = 0
UNION ALL
SELECT 'index', i.name, pg_get_indexdef(i.oid) || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END, r.name
  FROM rel i JOIN pg_index x ON x.indexrelid = i.oid JOIN rel r ON r.oid = x.indrelid
  WHERE NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT CASE r.relkind WHEN 'v' THEN 'view' ELSE 'materialized view' END, r.name, pg_get_viewdef(r.oid), ''
  FROM rel r WHERE r.relkind IN ('v', 'm')
UNION ALL
SELECT 'sequence', r.name, concat_ws(' ', format_type(s.seqtypid, NULL), s.seqincrement, s.seqmin, s.seqmax, s.seqcycle), ''
  FROM rel r JOIN pg_sequence s ON s.seqrelid = r.oid
  WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.deptype IN ('a', 'i'))
UNION ALL
SELECT CASE p.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END,
       format('"%s"."%s"(%s)', replace(n.nspname, '"', '""'), replace(p.proname, '"', '""'), pg_get_function_identity_arguments(p.oid)),
       CASE WHEN p.prokind IN ('f', 'p', 'w') THEN pg_get_functiondef(p.oid) ELSE '' END, ''
  FROM pg_proc p JOIN space n ON n.oid = p.pronamespace
  WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
UNION ALL
SELECT 'trigger', r.name || '."' || replace(t.tgname, '"', '""') || '"', pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text, r.name
  FROM pg_trigger t JOIN rel r ON r.oid = t.tgrelid
  WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND t.tgname !~ '^sluice_copy_'
UNION ALL
SELECT 'type', format('"%s"."%s"', replace(n.nspname, '"', '""'), replace(t.typname, '"', '""')),
       concat_ws(' ', t.typtype, (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid),
                 CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) END, t.typdefault,
                 (SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
                  FROM pg_attribute a WHERE a.attrelid = t.typrelid AND t.typtype = 'c' AND a.attnum > 0 AND NOT a.attisdropped),
                 (SELECT string_agg(pg_get_constraintdef(k.oid), ', ' ORDER BY k.conname) FROM pg_constraint k WHERE k.contypid = t.oid)), ''
  FROM pg_type t JOIN space n ON n.oid = t.typnamespace
  WHERE (t.typtype IN ('e', 'd', 'r') OR (t.typtype = 'c' AND EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')))
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e')
UNION ALL
SELECT 'policy', r.name || '."' || replace(p.polname, '"', '""') || '"',
       concat_ws(' ', p.polcmd, p.polpermissive, p.polroles::regrole[]::text, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)), r.name
  FROM pg_policy p JOIN rel r ON r.oid = p.polrelid
)sql";

constexpr const char* kSqlite = R"sql(
WITH own AS (SELECT type, name, tbl_name, sql FROM sqlite_schema
             WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND tbl_name NOT LIKE '\_sluice\_%' ESCAPE '\'
               AND name NOT LIKE '\_sluice\_%' ESCAPE '\')
SELECT 'table' AS kind, '"' || replace(name, '"', '""') || '"' AS name, '' AS definition, '' AS of FROM own WHERE type = 'table'
UNION ALL
SELECT 'column', '"' || replace(t.name, '"', '""') || '"."' || replace(c.name, '"', '""') || '"',
       c.type || CASE WHEN c."notnull" THEN ' NOT NULL' ELSE '' END || coalesce(' DEFAULT ' || c.dflt_value, '')
         || CASE WHEN c.pk THEN ' KEY ' || c.pk ELSE '' END || CASE WHEN c.hidden THEN ' GENERATED' ELSE '' END,
       '"' || replace(t.name, '"', '""') || '"'
  FROM own t JOIN pragma_table_xinfo(t.name) c WHERE t.type = 'table'
UNION ALL
SELECT 'ddl', '"' || replace(name, '"', '""') || '"', sql, '"' || replace(name, '"', '""') || '"' FROM own WHERE type = 'table'
UNION ALL
SELECT type, '"' || replace(name, '"', '""') || '"', sql, '"' || replace(tbl_name, '"', '""') || '"'
  FROM own WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
UNION ALL
SELECT 'view', '"' || replace(name, '"', '""') || '"', sql, '' FROM own WHERE type = 'view'
)sql";

// A table's text without what differs between two ways of writing the same.
std::string plain(std::string_view sql) {
  std::string out;
  for (char c : sql) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '"') out += c;
  }
  return out;
}

using Key = std::pair<std::string_view, std::string_view>;  // of an object that stays where it is
Key key_of(const SchemaObject& object) { return {object.kind, object.name}; }

bool has_table(const Schema& schema, const std::string& name) {
  const Key wanted("table", name);
  const auto found = std::ranges::lower_bound(schema, wanted, {}, key_of);
  return found != schema.end() && key_of(*found) == wanted;
}

std::string drop_of(Engine engine, const SchemaObject& object) {
  const std::string own =
      object.of.empty() ? object.name : object.name.substr(std::min(object.of.size() + 1, object.name.size()));
  if (object.kind == "column") return "ALTER TABLE " + object.of + " DROP COLUMN " + own;
  if (object.kind == "constraint") return "ALTER TABLE " + object.of + " DROP CONSTRAINT " + own;
  if (object.kind == "policy") return "DROP POLICY " + own + " ON " + object.of;
  if (object.kind == "trigger" && engine == Engine::postgres) return "DROP TRIGGER " + own + " ON " + object.of;
  std::string kind = object.kind;
  std::ranges::transform(kind, kind.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return "DROP " + kind + " " + object.name;
}

}  // namespace

Result<Schema> describe_schema(Database& database) {
  const bool postgres = database.engine() == Engine::postgres;
  auto rows = database.query(postgres ? kPostgres : kSqlite);
  if (!rows) return rows.error();
  Schema schema;
  for (const Row& row : *rows) {
    SchemaObject object{row[0].value_or(""), row[1].value_or(""), row[2].value_or(""), row[3].value_or("")};
    if (object.kind == "ddl") object.definition = plain(object.definition);
    schema.push_back(std::move(object));
  }
  std::ranges::sort(schema, {}, key_of);
  return schema;
}

std::string schema_to_json(const Schema& schema) { return json::serialize(to_json(schema)); }

Result<Schema> schema_from_json(const std::string& text) {
  auto document = parse_json(text, "");
  if (!document) return document.error();
  return read<Schema>(*document);
}

std::string fingerprint(const Schema& schema) { return crypto::to_string(crypto::sha256(schema_to_json(schema))); }

std::vector<Difference> differences(const Schema& before, const Schema& after) {
  std::vector<Difference> all;
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    const bool gone = now == after.end() || (old != before.end() && key_of(*old) < key_of(*now));
    const bool fresh = !gone && (old == before.end() || key_of(*now) < key_of(*old));
    if (gone && (old->of.empty() || has_table(after, old->of))) all.push_back({Change::removed, *old});
    if (fresh && (now->of.empty() || has_table(before, now->of))) all.push_back({Change::added, *now});
    if (!gone && !fresh && old->definition != now->definition) all.push_back({Change::changed, *now});
    if (!fresh) ++old;
    if (!gone) ++now;
  }
  // A table's text says what its columns, which are named, say already.
  std::set<std::string> named;
  for (const Difference& each : all) {
    if (each.object.kind == "column") named.insert(each.object.of);
  }
  std::erase_if(all,
                [&](const Difference& each) { return each.object.kind == "ddl" && named.contains(each.object.of); });
  return all;
}

std::string to_line(const Difference& difference) {
  const char* sign = difference.change == Change::added ? "+ " : difference.change == Change::changed ? "~ " : "- ";
  const std::string kind = difference.object.kind == "ddl" ? "table" : difference.object.kind;
  return sign + kind + " " + difference.object.name;
}

Result<std::vector<std::string>> undoing(Engine engine, const Schema& before, const Schema& after) {
  // What leans on other things goes first.
  const std::vector<std::string> order = {"trigger",    "policy",   "view",  "materialized view", "index",
                                          "constraint", "column",   "table", "procedure",         "function",
                                          "aggregate",  "sequence", "type"};
  std::vector<std::string> statements;
  std::vector<Difference> all = differences(before, after);
  for (const Difference& each : all) {
    if (each.change == Change::added) continue;
    return Error{.code = Code::conflict,
                 .message = "it cannot be undone: " + each.object.kind + " " + each.object.name + " is " +
                            (each.change == Change::changed ? "another one than before" : "gone"),
                 .next = "both sides are kept; finish the migration, or change the schema by a further one"};
  }
  for (const std::string& kind : order) {
    for (const Difference& each : all) {
      if (each.object.kind == kind) statements.push_back(drop_of(engine, each.object));
    }
  }
  return statements;
}

}  // namespace sluice::migrate
