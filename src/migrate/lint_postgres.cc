// One function a kind of statement. As the types of columns are not known, each change of a type counts as one that
// rewrites, and each function in a default that is not known as one that gives every row a value of its own.
#include "migrate/lint_postgres.h"

#include <algorithm>

#include "migrate/sql_text.h"

namespace sluice::migrate {
namespace {

using json::array;
using json::value;

constexpr std::string_view kWrittenAnew = "the whole table is written anew while nobody reads or writes";

std::string last_name(const array& names) {
  return names.empty() ? std::string() : std::string(text_in(fields_of(names.back()), "sval"));
}

bool are_own(const array& relations, const TableNames& own) {
  return std::ranges::all_of(relations, [&](const value& each) { return own.contains(table_of(fields_of(each))); });
}

// ---- columns and constraints

// What gives all rows the same value, so that PostgreSQL keeps it once for all of them.
bool is_the_same_for_all(const std::string& function) {
  return is_one_of(function, {"now", "transaction_timestamp", "statement_timestamp", "current_setting", "timezone",
                              "date_trunc", "make_interval", "to_timestamp", "lower", "upper", "md5", "concat",
                              "jsonb_build_object", "json_build_object", "jsonb_build_array", "json_build_array"});
}

// Whether an expression calls something that may give each row a value of its own.
bool calls_what_varies(const value& node) {
  if (const array* items = node.if_array()) return std::ranges::any_of(*items, calls_what_varies);
  const json::object* object = node.if_object();
  if (object == nullptr) return false;
  return std::ranges::any_of(*object, [](const auto& member) {
    const bool varies =
        member.key() == "FuncCall" && !is_the_same_for_all(last_name(items_in(member.value(), "funcname")));
    return varies || calls_what_varies(member.value());
  });
}

void add_column(const value& column, AllBroken& all) {
  bool filled = false, required = false, indexed = false, computed = false, varies = false, checked = false,
       refers = false;
  for (const value& each : items_in(column, "constraints")) {
    const value& constraint = fields_of(each);
    const std::string_view what = text_in(constraint, "contype");
    const bool makes_value = is_one_of(what, {"CONSTR_GENERATED", "CONSTR_IDENTITY"});
    computed = computed || makes_value;
    filled = filled || makes_value || what == "CONSTR_DEFAULT";
    varies = varies || (what == "CONSTR_DEFAULT" && calls_what_varies(field_of(constraint, "raw_expr")));
    required = required || what == "CONSTR_NOTNULL";
    indexed = indexed || is_one_of(what, {"CONSTR_PRIMARY", "CONSTR_UNIQUE"});
    checked = checked || what == "CONSTR_CHECK";
    refers = refers || what == "CONSTR_FOREIGN";
  }
  const bool counts = is_one_of(last_name(items_in(field_of(column, "typeName"), "names")),
                                {"serial", "serial2", "serial4", "serial8", "bigserial", "smallserial"});
  if (required && !filled && !counts) all.add("breaks", kNotNull);
  if (indexed) {
    all.add("locks", "its index is made while nobody writes; add the column, then CREATE UNIQUE INDEX CONCURRENTLY");
  }
  if (counts || computed || varies) {
    all.add("rewrites", "each row gets a value of its own; add it without one, and fill it by copy:");
  }
  if (checked || (refers && (filled || counts))) {
    all.add("scans", "rows are proven while nobody reads or writes; add the column, then its constraint NOT VALID");
  }
}

void add_constraint(const value& constraint, AllBroken& all) {
  if (!text_in(constraint, "indexname").empty() || is_set(constraint, "skip_validation")) return;
  if (is_one_of(text_in(constraint, "contype"), {"CONSTR_UNIQUE", "CONSTR_PRIMARY", "CONSTR_EXCLUSION"})) {
    all.add("locks",
            "its index is made while nobody writes; CREATE UNIQUE INDEX CONCURRENTLY, then ADD CONSTRAINT … USING "
            "INDEX");
  } else if (is_one_of(text_in(constraint, "contype"), {"CONSTR_CHECK", "CONSTR_FOREIGN"})) {
    all.add("scans", "rows are proven while nobody writes; add it NOT VALID, and Sluice validates it after the copy");
  }
}

// ---- ALTER TABLE, and what is altered like a table

void alter_table(const value& command, AllBroken& all) {
  const std::string_view what = text_in(command, "subtype");
  const value& definition = fields_of(field_of(command, "def"));
  if (is_one_of(what, {"AT_DropColumn", "AT_DetachPartition"})) {
    all.add("destroys", kToContract);
  } else if (what == "AT_AttachPartition") {
    all.add("scans", "its rows are proven while nobody writes them, unless a valid CHECK says the same");
  } else if (what.starts_with("AT_DisableTrig") || what == "AT_DisableRule") {
    all.add("breaks", "what the version before writes has to go through its triggers");
  } else if (is_one_of(what, {"AT_EnableRowSecurity", "AT_ForceRowSecurity"})) {
    all.add("breaks", "rows that no policy shows are gone for the version before");
  } else if (what == "AT_AlterColumnType") {
    all.add("rewrites",
            "a type is changed with every row, and the version before expects the old one; add a column of the new "
            "type, and copy");
  } else if (what == "AT_SetNotNull") {
    all.add("scans", "rows are proven while nobody reads or writes; ADD CONSTRAINT … CHECK (… IS NOT NULL) NOT VALID");
  } else if ((what == "AT_ColumnDefault" && definition.is_null()) || what == "AT_DropIdentity") {
    all.add("breaks", "the version before writes rows without it; what it relies on belongs into contract.sql");
  } else if (what == "AT_AddIdentity" && text_in(definition, "generated_when") == "a") {
    all.add("breaks", "values that the version before writes are refused; GENERATED BY DEFAULT lets them be");
  } else if (is_one_of(what, {"AT_SetTableSpace", "AT_SetAccessMethod", "AT_SetLogged", "AT_SetUnLogged"})) {
    all.add("rewrites", kWrittenAnew);
  } else if (what == "AT_AddColumn") {
    add_column(definition, all);
  } else if (what == "AT_AddConstraint") {
    add_constraint(definition, all);
  }
}

// ---- DROP, and what removes rows

void drop(const value& node, const TableNames& own, AllBroken& all) {
  const std::string_view what = text_in(node, "removeType");
  if (what == "OBJECT_INDEX") {
    if (!is_set(node, "concurrent")) all.add("locks", "nobody reads or writes meanwhile; DROP INDEX CONCURRENTLY");
    return;
  }
  if (is_one_of(what, {"OBJECT_TRIGGER", "OBJECT_POLICY", "OBJECT_RULE", "OBJECT_STATISTIC_EXT"})) return;
  const bool is_new = what == "OBJECT_TABLE" && std::ranges::all_of(items_in(node, "objects"), [&](const value& each) {
                        const array& name = items_in(fields_of(each), "items");
                        return own.contains(table_of(name, name.size()));
                      });
  if (!is_new) all.add("destroys", kToContract);
}

// Of a table that was there; also beneath WITH, where a statement writes as well.
void write_rows(std::string_view kind, const value& node, const TableNames& own, AllBroken& all) {
  if (kind == "DeleteStmt" || kind == "UpdateStmt" || kind == "MergeStmt") {
    bool removes = kind == "DeleteStmt", changes = kind == "UpdateStmt";
    for (const value& each : items_in(node, "mergeWhenClauses")) {
      removes = removes || text_in(fields_of(each), "commandType") == "CMD_DELETE";
      changes = changes || text_in(fields_of(each), "commandType") == "CMD_UPDATE";
    }
    const bool is_new = own.contains(table_of(field_of(node, "relation")));
    if (removes && !is_new) all.add("destroys", kRowsToContract);
    if (changes && !removes && !is_new) all.add("locks", kRowsLocked);
  }
  for (const value& each : items_in(field_of(node, "withClause"), "ctes")) {
    const value& query = field_of(fields_of(each), "ctequery");
    write_rows(kind_of(query), fields_of(query), own, all);
  }
}

// ---- the others

void alter_domain(const value& node, AllBroken& all) {
  const std::string_view what = text_in(node, "subtype");
  const bool adds = what == "C" && !is_set(fields_of(field_of(node, "def")), "skip_validation");
  if (what == "O" || adds) {
    all.add("scans", "all columns of it are proven while nobody writes; ADD CONSTRAINT … NOT VALID");
  }
}

void revoke(const value& node, const TableNames& own, AllBroken& all) {
  const bool of_tables = text_in(node, "targtype") == "ACL_TARGET_OBJECT" && text_in(node, "objtype") == "OBJECT_TABLE";
  if (is_set(node, "is_grant") || (of_tables && are_own(items_in(node, "objects"), own))) return;
  all.add("breaks", "the version before may need it; it belongs into contract.sql");
}

bool has_option(const value& node, std::string_view list, std::string_view option) {
  return std::ranges::any_of(items_in(node, list),
                             [&](const value& each) { return text_in(fields_of(each), "defname") == option; });
}

void reindex(const value& node, AllBroken& all) {
  if (!has_option(node, "params", "concurrently"))
    all.add("locks", "nobody reads or writes until it is done; leave it out, or say CONCURRENTLY");
}

// What is done to a table that was there.
void change_table(std::string_view kind, const value& node, AllBroken& all) {
  if (kind == "AlterTableStmt") {
    for (const value& each : items_in(node, "cmds")) alter_table(fields_of(each), all);
  } else if (kind == "RenameStmt" || kind == "AlterObjectSchemaStmt") {
    all.add("renames", kRename);
  } else if (kind == "IndexStmt" && !is_set(node, "concurrent")) {
    all.add("locks", "nobody writes while it is made; CREATE INDEX CONCURRENTLY");
  } else if (kind == "RuleStmt" && is_set(node, "instead")) {
    all.add("breaks", "what the version before writes or reads there becomes something else");
  }
}

}  // namespace

std::vector<Broken> rules_broken(const ParseTree& tree, const TableNames& own) {
  AllBroken all;
  const std::string_view kind = tree.kind;
  const value& node = tree.node;
  const value& relation = field_of(node, "relation");
  if (kind == "ExplainStmt" && has_option(node, "options", "analyze")) {
    return rules_broken(statement_in(node, "query"), own);  // which is run
  }
  if (kind == "DropStmt") {
    drop(node, own, all);
  } else if (kind.starts_with("Drop")) {
    all.add("destroys", kToContract);
  } else if (kind == "TruncateStmt") {
    if (!are_own(items_in(node, "relations"), own)) all.add("destroys", kRowsToContract);
  } else if (is_one_of(kind, {"SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"})) {
    write_rows(kind, node, own, all);
  } else if (kind == "AlterDomainStmt") {
    alter_domain(node, all);
  } else if (kind == "AlterEnumStmt") {
    if (!text_in(node, "oldVal").empty()) all.add("renames", kRename);
  } else if (kind == "GrantStmt" || kind == "GrantRoleStmt") {
    revoke(node, own, all);
  } else if (kind == "DoStmt" || kind == "CallStmt") {
    all.add("hides", "what it does is not seen; write its statements plainly");
  } else if (kind == "AlterTableMoveAllStmt") {
    all.add("rewrites", kWrittenAnew);
  } else if (kind == "ClusterStmt" || (kind == "RefreshMatViewStmt" && !is_set(node, "concurrent"))) {
    all.add("rewrites", "nobody reads or writes it until it is done; leave it out, or refresh CONCURRENTLY");
  } else if (kind == "ReindexStmt") {
    reindex(node, all);
  } else if (relation.is_null() || !own.contains(table_of(relation))) {
    change_table(kind, node, all);
  }
  return all.take();
}

void note_own_tables(const ParseTree& tree, TableNames& own) {
  const value& relation = field_of(tree.node, "relation");
  // With IF NOT EXISTS it may be one that others have.
  if (tree.kind == "CreateStmt" && !is_set(tree.node, "if_not_exists")) own.insert(table_of(relation));
  if (tree.kind == "CreateTableAsStmt" && !is_set(tree.node, "if_not_exists")) {
    own.insert(table_of(field_of(field_of(tree.node, "into"), "rel")));
  }
  const value& into = field_of(field_of(tree.node, "intoClause"), "rel");
  if (tree.kind == "SelectStmt" && !into.is_null()) own.insert(table_of(into));
  if (tree.kind == "CreateSchemaStmt") {
    for (const value& each : items_in(tree.node, "schemaElts")) {
      note_own_tables({.kind = std::string(kind_of(each)), .node = fields_of(each)}, own);
    }
  }
  const bool renames = tree.kind == "RenameStmt" && text_in(tree.node, "renameType") == "OBJECT_TABLE";
  if (renames && own.contains(table_of(relation))) {
    json::object renamed = relation.as_object();
    renamed["relname"] = text_in(tree.node, "newname");
    own.insert(table_of(renamed));
  }
}

}  // namespace sluice::migrate
