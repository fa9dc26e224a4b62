// The SQL of copies. An expression of a rule names the columns of a row plainly, so it is always evaluated over that
// row as a table of the same name.
#include "migrate/copying.h"

#include <algorithm>
#include <cstdio>

#include "base/ascii.h"

namespace sluice::migrate {
namespace {

template <class Range, class Make>
std::string joined(const Range& range, std::string_view between, Make make) {
  std::string out;
  for (const auto& each : range) {
    if (!out.empty()) out += between;
    out += make(each);
  }
  return out;
}

// Whether the name, in quotes, is a word of the expression.
bool mentions(std::string_view expression, const std::string& name) {
  const std::string_view plain(name.data() + 1, name.size() - 2);
  auto is_word = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || (c & 0x80) != 0; };
  for (size_t at = 0; at + plain.size() <= expression.size(); ++at) {
    bool begins = at == 0 || !is_word(expression[at - 1]);
    size_t end = at + plain.size();
    bool ends = end == expression.size() || !is_word(expression[end]);
    if (begins && ends && std::ranges::equal(expression.substr(at, plain.size()), plain, {}, to_lower, to_lower))
      return true;
  }
  return false;
}

// The value of an expression over a row that is called NEW, OLD or, without a name, the row of the statement.
std::string over(const Copy& copy, const std::string& expression, const std::string& row) {
  if (row.empty()) return "(" + expression + "\n)";
  std::string all = row + ".*";
  if (copy.engine == Engine::sqlite) {
    // Only those that it names: a column that a trigger names cannot be dropped by another migration.
    all = "";
    for (const std::string& name : copy.columns) {
      if (mentions(expression, name)) all.append(all.empty() ? "" : ", ").append(row + "." + name + " AS " + name);
    }
    if (all.empty()) all = "1";
  }
  return "(SELECT (" + expression + "\n) FROM (SELECT " + all + ") AS " + copy.alias + ")";
}

std::string column_of(const std::string& row, const std::string& name) { return row.empty() ? name : row + "." + name; }

// Values that can be compared whatever their type.
std::string as_text(const Copy& copy, const std::string& value) {
  return copy.engine == Engine::postgres ? "(" + value + ")::text" : value;
}
std::string same(const Copy& copy, const std::string& a, const std::string& b) {
  return as_text(copy, a) + (copy.engine == Engine::postgres ? " IS NOT DISTINCT FROM " : " IS ") + as_text(copy, b);
}

std::string blank(const Copy& copy, const std::vector<Column>& side, const std::string& row) {
  return "(" +
         joined(side, " AND ",
                [&](const Column& each) {
                  std::string value = column_of(row, each.name);
                  std::string nothing = value + " IS NULL";
                  return each.fallback.empty() ? nothing
                                               : "(" + nothing + " OR " + same(copy, value, each.fallback) + ")";
                }) +
         ")";
}

std::string differs(const Copy& copy, const std::vector<Column>& side) {
  return "(" +
         joined(
             side, " OR ",
             [&](const Column& each) { return "NOT (" + same(copy, "NEW." + each.name, "OLD." + each.name) + ")"; }) +
         ")";
}

// The new side already says what the old one says, as when new code wrote an empty value.
std::string agrees(const Copy& copy, const std::string& row) {
  return "(" +
         joined(copy.back, " AND ",
                [&](const Column& each) {
                  return same(copy, column_of(row, each.name), over(copy, each.expression, row));
                }) +
         ")";
}

// The new side is still to be copied from the old one.
std::string wanting(const Copy& copy, const std::string& row) {
  std::string wanted = blank(copy, copy.forward, row);
  return copy.back.empty() ? wanted : wanted + " AND NOT " + agrees(copy, row);
}

std::string tuple(const std::vector<std::string>& names) {
  return "(" + joined(names, ", ", [](const std::string& each) { return each; }) + ")";
}

// ---- PostgreSQL: one trigger before the row is written, which writes the other side into it.

std::string assign(const Copy& copy, const std::vector<Column>& side, const std::string& into, const std::string& row) {
  return joined(side, "\n", [&](const Column& each) {
    return "    " + into + "." + each.name + " := " + over(copy, each.expression, row) + ";";
  });
}

// All expressions of a side are evaluated before one is assigned, as in an UPDATE.
std::string copy_side(const Copy& copy, const std::vector<Column>& side) {
  return "    made := NEW;\n" + assign(copy, side, "made", "NEW") + "\n    NEW := made;\n";
}

std::vector<std::string> postgres_triggers(const Copy& copy) {
  const std::string function = "sluice." + copy.name + "()";
  const bool two_ways = !copy.back.empty();
  std::string body =
      "\n#variable_conflict use_column\n"
      "DECLARE\n  made record;\n  was record;\n  old_changed boolean;\n"  // as NEW is: a partition has an order of its
                                                                          // own
      "BEGIN\n"
      "  IF current_setting('sluice.copying', true) = 'on' THEN RETURN NEW; END IF;\n"
      "  IF TG_OP = 'INSERT' THEN\n"
      "    IF " +
      wanting(copy, "NEW") + " THEN\n" + copy_side(copy, copy.forward);
  if (two_ways) {
    body += "    ELSIF " + blank(copy, copy.back, "NEW") + " AND NOT " + blank(copy, copy.forward, "NEW") + " THEN\n" +
            copy_side(copy, copy.back);
  }
  body += "    END IF;\n    RETURN NEW;\n  END IF;\n";
  body += two_ways ? "  old_changed := " + differs(copy, copy.back) + ";\n" : "  old_changed := false;\n";
  body +=
      "  IF NOT old_changed THEN\n    made := NEW;\n    was := NEW;\n" + assign(copy, copy.forward, "made", "NEW") +
      "\n" + assign(copy, copy.forward, "was", "OLD") + "\n    old_changed := " +
      joined(copy.forward, " OR ",
             [&](const Column& each) { return "NOT (" + same(copy, "made." + each.name, "was." + each.name) + ")"; }) +
      ";\n  END IF;\n";
  body += "  IF " + differs(copy, copy.forward) + " THEN\n    IF NOT old_changed THEN\n" +
          (two_ways ? copy_side(copy, copy.back) : std::string("    NULL;\n")) + "    END IF;\n" +
          "  ELSIF old_changed OR (" + wanting(copy, "NEW") + ") THEN\n" + copy_side(copy, copy.forward) +
          "  END IF;\n  RETURN NEW;\nEND\n";
  return {"CREATE OR REPLACE FUNCTION " + function +
              " RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $sluice$" + body + "$sluice$",
          "CREATE TRIGGER " + copy.name + " BEFORE INSERT OR UPDATE ON " + copy.table +
              " FOR EACH ROW EXECUTE FUNCTION " + function};
}

// ---- SQLite: triggers after the row was written, which update it. While one does, the flag keeps the others still; no
// other connection sees it set, as it is never committed.

std::string sqlite_trigger(const Copy& copy, const std::string& ending, const std::string& event,
                           const std::string& condition, const std::vector<Column>& side) {
  std::string set =
      joined(side, ", ", [&](const Column& each) { return each.name + " = " + over(copy, each.expression, ""); });
  std::string row = joined(copy.key, " AND ", [](const std::string& each) { return each + " = NEW." + each; });
  return "CREATE TRIGGER \"_sluice_" + copy.name + ending + "\" AFTER " + event + " ON " + copy.table +
         " FOR EACH ROW WHEN (SELECT copying FROM _sluice_flag) = 0 AND " + condition +
         " BEGIN UPDATE _sluice_flag SET copying = 1; UPDATE " + copy.table + " SET " + set + " WHERE " + row +
         "; UPDATE _sluice_flag SET copying = 0; END";
}

std::vector<std::string> sqlite_triggers(const Copy& copy) {
  const bool two_ways = !copy.back.empty();
  std::string new_changed = differs(copy, copy.forward);
  std::string made_other =
      "(" +
      joined(copy.forward, " OR ",
             [&](const Column& each) {
               return over(copy, each.expression, "NEW") + " IS NOT " + over(copy, each.expression, "OLD");
             }) +
      ")";
  std::string old_changed = two_ways ? "(" + differs(copy, copy.back) + " OR " + made_other + ")" : made_other;
  std::vector<std::string> all = {
      sqlite_trigger(copy, "_insert", "INSERT", wanting(copy, "NEW"), copy.forward),
      sqlite_trigger(copy, "_update", "UPDATE",
                     "NOT " + new_changed + " AND (" + old_changed + " OR (" + wanting(copy, "NEW") + "))",
                     copy.forward)};
  if (two_ways) {
    all.push_back(sqlite_trigger(copy, "_insert_back", "INSERT",
                                 blank(copy, copy.back, "NEW") + " AND NOT " + blank(copy, copy.forward, "NEW"),
                                 copy.back));
    all.push_back(sqlite_trigger(copy, "_update_back", "UPDATE", new_changed + " AND NOT " + old_changed, copy.back));
  }
  return all;
}

}  // namespace

std::string trigger_name(int64_t number, size_t place) {
  char name[64];
  std::snprintf(name, sizeof name, "sluice_copy_%04lld_%zu", static_cast<long long>(number), place);
  return name;
}

std::vector<std::string> make_triggers(const Copy& copy) {
  return copy.engine == Engine::postgres ? postgres_triggers(copy) : sqlite_triggers(copy);
}

std::vector<std::string> drop_triggers(Engine engine, const std::string& name, const std::string& table) {
  if (engine == Engine::postgres) {
    return {"DROP TRIGGER IF EXISTS " + name + " ON " + table, "DROP FUNCTION IF EXISTS sluice." + name + "()"};
  }
  std::vector<std::string> all;
  for (const char* ending : {"_insert", "_update", "_insert_back", "_update_back"}) {
    all.push_back("DROP TRIGGER IF EXISTS \"_sluice_" + name + ending + "\"");
  }
  return all;
}

BatchSql batch_sql(const Copy& copy, const std::string& after, const std::string& last) {
  const bool postgres = copy.engine == Engine::postgres;
  const std::string key = tuple(copy.key);
  // The position is read back as SQL: each value as the database quotes it.
  std::string quoted = joined(copy.key, " || ', ' || ", [&](const std::string& each) {
    return postgres ? "quote_literal(" + each + "::text)" : "quote(" + each + ")";
  });
  std::string from = after.empty() ? "" : " WHERE " + key + " > (" + after + ")";
  std::string range = after.empty() ? "true" : key + " > (" + after + ")";
  if (!last.empty()) range += " AND " + key + " <= (" + last + ")";
  std::string order = joined(copy.key, ", ", [](const std::string& each) { return each; });
  return {.begin = postgres ? "SET LOCAL sluice.copying = 'on'" : "UPDATE _sluice_flag SET copying = 1",
          .bound = "SELECT " + quoted + ", _sluice_place FROM (SELECT " + order + ", row_number() OVER (ORDER BY " +
                   order + ") AS _sluice_place FROM (SELECT " + order + " FROM " + copy.table + from + " ORDER BY " +
                   order + " LIMIT " + (postgres ? "$1::bigint" : "CAST($1 AS INTEGER)") +
                   ") AS page) AS numbered ORDER BY _sluice_place DESC LIMIT 1",
          .update = "UPDATE " + copy.table + " SET " +
                    joined(copy.forward, ", ",
                           [&](const Column& each) { return each.name + " = " + over(copy, each.expression, ""); }) +
                    " WHERE " + range + " AND " + wanting(copy, ""),
          .end = postgres ? "SET LOCAL sluice.copying = 'off'" : "UPDATE _sluice_flag SET copying = 0"};
}

std::string row_update(const Copy& copy, const std::string& key) {
  return "UPDATE " + copy.table + " SET " +
         joined(copy.forward, ", ",
                [&](const Column& each) { return each.name + " = " + over(copy, each.expression, ""); }) +
         " WHERE " + tuple(copy.key) + " = (" + key + ") AND " + wanting(copy, "");
}

std::string count_sql(Engine engine, const std::string& table) {
  if (engine == Engine::sqlite) return "SELECT count(*) FROM " + table;
  return "SELECT greatest(0, sum(c.reltuples))::bigint FROM pg_class c WHERE c.oid IN "
         "(SELECT relid FROM pg_partition_tree(" +
         quoted_text(table) +
         "::regclass) WHERE isleaf "
         "UNION SELECT " +
         quoted_text(table) + "::regclass)";
}

}  // namespace sluice::migrate
