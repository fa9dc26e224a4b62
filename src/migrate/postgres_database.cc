// PostgreSQL through libpq, of which only what is called here is known: no header of it is needed to build.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/shared_library.h"
#include "migrate/database.h"

namespace sluice::migrate {
namespace {

// As libpq-fe.h has them since version 8; its ABI is stable.
struct PGconn;
struct PGresult;
struct ConninfoOption {
  char* keyword;
  char* envvar;
  char* compiled;
  char* val;
  char* label;
  char* dispchar;
  int dispsize;
};
constexpr int kConnectionOk = 0;
constexpr int kCommandOk = 1;
constexpr int kTuplesOk = 2;
constexpr int kDiagSqlState = 'C';
constexpr int kDiagPrimary = 'M';

struct Libpq {
  PGconn* (*connect)(const char* const*, const char* const*, int);
  void (*finish)(PGconn*);
  int (*status)(const PGconn*);
  char* (*error_message)(const PGconn*);
  PGresult* (*exec_params)(PGconn*, const char*, int, const unsigned*, const char* const*, const int*, const int*, int);
  int (*result_status)(const PGresult*);
  char* (*error_field)(const PGresult*, int);
  void (*clear)(PGresult*);
  int (*ntuples)(const PGresult*);
  int (*nfields)(const PGresult*);
  char* (*value)(const PGresult*, int, int);
  int (*length)(const PGresult*, int, int);
  int (*is_null)(const PGresult*, int, int);
  char* (*tuples_changed)(PGresult*);
  ConninfoOption* (*parse)(const char*, char**);
  void (*free_options)(ConninfoOption*);
  void (*free_memory)(void*);
  void (*(*notice)(PGconn*, void (*)(void*, const char*), void*))(void*, const char*);
};

template <class Function>
bool find(const SharedLibrary& library, const char* name, Function*& into) {
  auto found = library.symbol<Function>(name);
  into = found ? *found : nullptr;
  return found.has_value();
}

Result<Libpq> load() {
  auto library = SharedLibrary::open("libpq.so.5", "libpq5");
  if (!library) return library.error();
  Libpq pq{};
  bool complete = find(*library, "PQconnectdbParams", pq.connect) && find(*library, "PQfinish", pq.finish) &&
                  find(*library, "PQstatus", pq.status) && find(*library, "PQerrorMessage", pq.error_message) &&
                  find(*library, "PQexecParams", pq.exec_params) &&
                  find(*library, "PQresultStatus", pq.result_status) &&
                  find(*library, "PQresultErrorField", pq.error_field) && find(*library, "PQclear", pq.clear) &&
                  find(*library, "PQntuples", pq.ntuples) && find(*library, "PQnfields", pq.nfields) &&
                  find(*library, "PQgetvalue", pq.value) && find(*library, "PQgetlength", pq.length) &&
                  find(*library, "PQgetisnull", pq.is_null) && find(*library, "PQcmdTuples", pq.tuples_changed) &&
                  find(*library, "PQconninfoParse", pq.parse) && find(*library, "PQconninfoFree", pq.free_options) &&
                  find(*library, "PQfreemem", pq.free_memory) && find(*library, "PQsetNoticeProcessor", pq.notice);
  if (!complete)
    return Error{.code = Code::unavailable, .message = "libpq.so.5 is too old", .next = "apt install libpq5"};
  return pq;
}

struct Option {
  std::string keyword;
  std::string variable;  // by which programs take it from their environment; empty if they do not
  std::string value;
};

// What libpq says of an address that it cannot read repeats parts of it, so nobody hears that.
Result<std::vector<Option>> parse(const Libpq& pq, const std::string& address) {
  char* said = nullptr;
  ConninfoOption* options = pq.parse(address.c_str(), &said);
  pq.free_memory(said);
  if (options == nullptr) {
    return Error{.code = Code::invalid,
                 .message = "the address of the database cannot be read",
                 .next = "give it as postgresql://USER:PASSWORD@HOST/DATABASE"};
  }
  std::vector<Option> all;
  for (const ConninfoOption* each = options; each->keyword != nullptr; ++each) {
    if (each->val == nullptr) continue;
    all.push_back({each->keyword, each->envvar == nullptr ? "" : each->envvar, each->val});
  }
  pq.free_options(options);
  return all;
}

// The password as the server's and libpq's messages could repeat it.
std::string without(std::string text, const std::string& password) {
  if (password.empty()) return text;
  for (size_t at = text.find(password); at != std::string::npos; at = text.find(password, at + 3)) {
    text.replace(at, password.size(), "***");
  }
  return text;
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

Code code_of(std::string_view state) {
  if (state == "55P03" || state == "40P01" || state == "40001" || state == "55006") return Code::conflict;
  if (state == "42501") return Code::denied;
  if (state == "53100") return Code::limit;
  if (state.starts_with("08") || state.starts_with("57P") || state.starts_with("53")) return Code::unavailable;
  return Code::failed;
}

class PostgresDatabase final : public Database {
 public:
  explicit PostgresDatabase(const Libpq& pq) : pq_(pq) {}
  ~PostgresDatabase() override { pq_.finish(connection_); }

  Result<void> open(const std::string& address) {
    auto options = parse(pq_, address);
    if (!options) return options.error();
    for (const Option& each : *options) {
      if (each.keyword == "password") password_ = each.value;
    }
    const char* keywords[] = {"connect_timeout", "fallback_application_name", "client_encoding", "dbname", nullptr};
    const char* values[] = {"10", "sluice migrate", "UTF8", address.c_str(), nullptr};
    connection_ = pq_.connect(keywords, values, 1);
    if (connection_ == nullptr || pq_.status(connection_) != kConnectionOk) {
      return Error{.code = Code::unavailable, .message = "the database does not answer: " + said_by_connection()};
    }
    pq_.notice(
        connection_, [](void*, const char*) {}, nullptr);
    // Rows that a policy hides would be left out silently; so it is an error.
    return run("SET row_security = off");
  }

  Engine engine() const override { return Engine::postgres; }
  int64_t changed() const override { return changed_; }

  Result<Rows> query(const std::string& sql, const Row& given) override {
    std::vector<const char*> values;
    for (const Value& each : given) values.push_back(each ? each->c_str() : nullptr);
    std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        pq_.exec_params(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr,
                        nullptr, 0),
        pq_.clear);
    int status = pq_.result_status(result.get());
    if (status != kCommandOk && status != kTuplesOk) return error(result.get());
    changed_ = std::atoll(pq_.tuples_changed(result.get()));
    Rows rows;
    for (int i = 0; i < pq_.ntuples(result.get()); ++i) {
      Row& row = rows.emplace_back();
      for (int j = 0; j < pq_.nfields(result.get()); ++j) {
        if (pq_.is_null(result.get(), i, j) != 0) {
          row.emplace_back();
        } else {
          row.emplace_back(
              std::string(pq_.value(result.get(), i, j), static_cast<size_t>(pq_.length(result.get(), i, j))));
        }
      }
    }
    return rows;
  }

 private:
  std::string said_by_connection() const {
    return connection_ == nullptr ? "no memory" : without(one_line(pq_.error_message(connection_)), password_);
  }

  Error error(const PGresult* result) const {
    const char* state = pq_.error_field(result, kDiagSqlState);
    const char* message = pq_.error_field(result, kDiagPrimary);
    if (state == nullptr || pq_.status(connection_) != kConnectionOk) {
      return {.code = Code::unavailable, .message = "the connection to the database is lost: " + said_by_connection()};
    }
    // The detail is left out: it has values of rows in it.
    std::string text = message == nullptr ? std::string(state) : std::string(message);
    return {.code = code_of(state), .message = without(one_line(std::move(text)), password_)};
  }

  Libpq pq_;
  PGconn* connection_ = nullptr;
  std::string password_;
  int64_t changed_ = 0;
};

}  // namespace

Result<std::unique_ptr<Database>> open_postgres(const std::string& address) {
  auto pq = load();
  if (!pq) return pq.error();
  auto database = std::make_unique<PostgresDatabase>(*pq);
  auto opened = database->open(address);
  if (!opened) return opened.error();
  return std::unique_ptr<Database>(std::move(database));
}

Result<std::string> address_of_database(const std::string& address, const std::string& name) {
  auto pq = load();
  if (!pq) return pq.error();
  auto options = parse(*pq, address);
  if (!options) return options.error();
  std::string all;
  auto add = [&](const std::string& keyword, const std::string& value) {
    all += (all.empty() ? "" : " ") + keyword + "='";
    for (char c : value) all.append(c == '\'' || c == '\\' ? "\\" : "").push_back(c);
    all += "'";
  };
  for (const Option& each : *options) {
    if (each.keyword != "dbname") add(each.keyword, each.value);
  }
  add("dbname", name);
  return all;
}

Result<std::map<std::string, std::string>> environment_of(const std::string& address) {
  auto pq = load();
  if (!pq) return pq.error();
  auto options = parse(*pq, address);
  if (!options) return options.error();
  std::map<std::string, std::string> all;
  for (const Option& each : *options) {
    if (!each.variable.empty()) all[each.variable] = each.value;
  }
  return all;
}

}  // namespace sluice::migrate
