// libpq's functions, as its header has had them since version 14; its ABI is stable.
#include "store/postgres_connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/shared_library.h"

namespace sluice::store::postgres {
namespace {

struct PGconn;
struct PGresult;
struct ConninfoOption {
  char *keyword, *envvar, *compiled, *val, *label, *dispchar;
  int dispsize;
};

constexpr int kConnectionOk = 0;
constexpr int kCommandOk = 1;
constexpr int kTuplesOk = 2;
constexpr int kPipelineSync = 10;
constexpr int kPipelineAborted = 11;
constexpr int kSqlState = 'C';
constexpr int kPrimaryMessage = 'M';

constexpr uint32_t kByteaType = 17;
constexpr uint32_t kInt8Type = 20;
constexpr uint32_t kByteaArrayType = 1001;
constexpr uint32_t kInt8ArrayType = 1016;

struct Libpq {
  PGconn* (*connect)(const char* const*, const char* const*, int);
  void (*finish)(PGconn*);
  int (*status)(const PGconn*);
  int (*socket)(const PGconn*);
  char* (*error_message)(const PGconn*);
  PGresult* (*exec)(PGconn*, const char*);
  PGresult* (*exec_params)(PGconn*, const char*, int, const uint32_t*, const char* const*, const int*, const int*, int);
  int (*send_params)(PGconn*, const char*, int, const uint32_t*, const char* const*, const int*, const int*, int);
  int (*enter_pipeline)(PGconn*);
  int (*exit_pipeline)(PGconn*);
  int (*sync_pipeline)(PGconn*);
  PGresult* (*get_result)(PGconn*);
  int (*result_status)(const PGresult*);
  char* (*error_field)(const PGresult*, int);
  void (*clear)(PGresult*);
  int (*ntuples)(const PGresult*);
  char* (*value)(const PGresult*, int, int);
  int (*length)(const PGresult*, int, int);
  int (*is_null)(const PGresult*, int, int);
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

Result<Libpq> load_libpq() {
  auto library = SharedLibrary::open("libpq.so.5", "libpq5");
  if (!library) return library.error();
  Libpq pq{};
  const bool complete =
      find(*library, "PQconnectdbParams", pq.connect) && find(*library, "PQfinish", pq.finish) &&
      find(*library, "PQstatus", pq.status) && find(*library, "PQsocket", pq.socket) &&
      find(*library, "PQerrorMessage", pq.error_message) && find(*library, "PQexec", pq.exec) &&
      find(*library, "PQexecParams", pq.exec_params) && find(*library, "PQsendQueryParams", pq.send_params) &&
      find(*library, "PQenterPipelineMode", pq.enter_pipeline) &&
      find(*library, "PQexitPipelineMode", pq.exit_pipeline) && find(*library, "PQpipelineSync", pq.sync_pipeline) &&
      find(*library, "PQgetResult", pq.get_result) && find(*library, "PQresultStatus", pq.result_status) &&
      find(*library, "PQresultErrorField", pq.error_field) && find(*library, "PQclear", pq.clear) &&
      find(*library, "PQntuples", pq.ntuples) && find(*library, "PQgetvalue", pq.value) &&
      find(*library, "PQgetlength", pq.length) && find(*library, "PQgetisnull", pq.is_null) &&
      find(*library, "PQconninfoParse", pq.parse) && find(*library, "PQconninfoFree", pq.free_options) &&
      find(*library, "PQfreemem", pq.free_memory) && find(*library, "PQsetNoticeProcessor", pq.notice);
  if (!complete) {
    return Error{
        .code = Code::unavailable, .message = "libpq.so.5 is older than version 14", .next = "apt install libpq5"};
  }
  return pq;
}

const Result<Libpq>& libpq() {
  static const Result<Libpq> loaded = load_libpq();
  return loaded;
}

void append_big_endian(std::string& to, uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xff);
}

int64_t big_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char each : bytes) value = value << 8 | static_cast<uint8_t>(each);
  if (bytes.size() == 4) return static_cast<int32_t>(static_cast<uint32_t>(value));
  return static_cast<int64_t>(value);
}

// The head of a binary array of one dimension, whose elements follow.
std::string array_head(uint32_t type, size_t size) {
  std::string head;
  append_big_endian(head, size == 0 ? 0 : 1, 4);
  append_big_endian(head, 0, 4);  // no nulls
  append_big_endian(head, type, 4);
  if (size > 0) {
    append_big_endian(head, size, 4);
    append_big_endian(head, 1, 4);  // the first index
  }
  return head;
}

std::string one_line(std::string text) {
  for (char& each : text) {
    if (each == '\n') each = ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

constexpr std::string_view kReadOnly = "25006";

// What to do about a state of the server's that an operator can change.
std::string next_for(std::string_view state) {
  if (state == kReadOnly) {
    return "it is a standby, or default_transaction_read_only is on: give the address of the server that takes changes";
  }
  if (state == "53100") return "make room on the disk of PostgreSQL; what was acknowledged is there";
  return "";
}

Code code_of(std::string_view state) {
  if (state == "SL001" || state == "40001" || state == "40P01" || state == "23505") return Code::conflict;
  if (state == "42501" || state.starts_with("28")) return Code::denied;
  if (state == "53100" || state == "54000") return Code::limit;
  if (state == kReadOnly) return Code::unavailable;
  return state.starts_with("08") || state.starts_with("57P") || state.starts_with("53") ? Code::unavailable
                                                                                        : Code::failed;
}

}  // namespace

PostgresParameter parameter(std::string_view bytes) { return {kByteaType, std::string(bytes)}; }

PostgresParameter parameter(int64_t number) {
  PostgresParameter made{.type = kInt8Type};
  append_big_endian(made.value, static_cast<uint64_t>(number), 8);
  return made;
}

PostgresParameter parameter(const std::vector<std::string>& bytes) {
  PostgresParameter made{kByteaArrayType, array_head(kByteaType, bytes.size())};
  for (const auto& each : bytes) {
    append_big_endian(made.value, each.size(), 4);
    made.value += each;
  }
  return made;
}

PostgresParameter parameter(const std::vector<int64_t>& numbers) {
  PostgresParameter made{kInt8ArrayType, array_head(kInt8Type, numbers.size())};
  for (const auto each : numbers) {
    append_big_endian(made.value, 8, 4);
    append_big_endian(made.value, static_cast<uint64_t>(each), 8);
  }
  return made;
}

PostgresRows::PostgresRows(std::shared_ptr<void> result) : result_(std::move(result)) {
  rows_ = static_cast<size_t>(libpq()->ntuples(static_cast<PGresult*>(result_.get())));
}

bool PostgresRows::null(size_t row, int column) const {
  return libpq()->is_null(static_cast<PGresult*>(result_.get()), static_cast<int>(row), column) != 0;
}

std::string_view PostgresRows::field(size_t row, int column) const {
  auto* result = static_cast<PGresult*>(result_.get());
  return {libpq()->value(result, static_cast<int>(row), column),
          static_cast<size_t>(libpq()->length(result, static_cast<int>(row), column))};
}

std::string PostgresRows::bytes(size_t row, int column) const { return std::string(field(row, column)); }
int64_t PostgresRows::integer(size_t row, int column) const { return big_endian(field(row, column)); }

struct PostgresConnection::State {
  Libpq pq{};
  PGconn* connection = nullptr;
  std::shared_ptr<PostgresWire> wire;
  std::string password;
  size_t sent = 0;  // in the pipeline
  bool send_failed = false;

  ~State() {
    if (connection) pq.finish(connection);
  }

  std::string without_password(std::string text) const {
    if (password.empty()) return text;
    for (size_t at = text.find(password); at != std::string::npos; at = text.find(password, at + 3)) {
      text.replace(at, password.size(), "***");
    }
    return text;
  }

  bool alive() const { return connection && pq.status(connection) == kConnectionOk; }

  Error lost() const {
    return {
        .code = Code::unavailable,
        .message = "the connection to PostgreSQL is lost: " + without_password(one_line(pq.error_message(connection)))};
  }

  Error error_of(const PGresult* result) const {
    const char* state = pq.error_field(result, kSqlState);
    const char* message = pq.error_field(result, kPrimaryMessage);
    if (!state || !alive()) return lost();
    return {.code = code_of(state),
            .message = "PostgreSQL: " + without_password(one_line(message ? message : state)),
            .next = next_for(state)};
  }

  // As libpq wants parameters: arrays beside each other.
  struct Given {
    explicit Given(const std::vector<PostgresParameter>& parameters) {
      for (const auto& each : parameters) {
        types.push_back(each.type);
        values.push_back(each.value.data());
        lengths.push_back(static_cast<int>(each.value.size()));
        formats.push_back(1);
      }
    }
    std::vector<uint32_t> types;
    std::vector<const char*> values;
    std::vector<int> lengths, formats;
  };
};

PostgresWire::PostgresWire(int socket) : socket_(::fcntl(socket, F_DUPFD_CLOEXEC, 0)) {}

PostgresWire::~PostgresWire() {
  if (socket_ >= 0) ::close(socket_);
}

void PostgresWire::cut() {
  if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

PostgresConnection::PostgresConnection(std::unique_ptr<State> state) : state_(std::move(state)) {}
PostgresConnection::~PostgresConnection() = default;

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const std::string& address) {
  if (!libpq()) return libpq().error();
  auto state = std::make_unique<State>();
  state->pq = *libpq();
  const auto& pq = state->pq;
  // What libpq says of an address that it cannot read repeats parts of it, so nobody hears that.
  char* said = nullptr;
  ConninfoOption* options = pq.parse(address.c_str(), &said);
  pq.free_memory(said);
  if (!options) {
    return Error{.code = Code::invalid,
                 .message = "the address of the store cannot be read",
                 .next = "give it as postgresql://USER:PASSWORD@HOST/DATABASE"};
  }
  for (const auto* each = options; each->keyword; ++each) {
    if (each->val && std::string_view(each->keyword) == "password") state->password = each->val;
  }
  pq.free_options(options);
  // A machine that is gone says nothing: the wire to it is given up after ten seconds.
  const char* keywords[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                            "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                            "client_encoding",  "dbname",           nullptr};
  const char* values[] = {"10", "3", "2", "3", "10000", "sluice", "UTF8", address.c_str(), nullptr};
  state->connection = pq.connect(keywords, values, 1);
  if (!state->alive()) {
    return Error{.code = Code::unavailable,
                 .message = "PostgreSQL does not answer: " +
                            state->without_password(one_line(pq.error_message(state->connection)))};
  }
  state->wire = std::make_shared<PostgresWire>(pq.socket(state->connection));
  pq.notice(
      state->connection, [](void*, const char*) {}, nullptr);
  return std::unique_ptr<PostgresConnection>(new PostgresConnection(std::move(state)));
}

Result<PostgresRows> PostgresConnection::query(const char* sql, const std::vector<PostgresParameter>& parameters) {
  const State::Given given(parameters);
  const auto& pq = state_->pq;
  std::shared_ptr<void> result(
      pq.exec_params(state_->connection, sql, static_cast<int>(parameters.size()), given.types.data(),
                     given.values.data(), given.lengths.data(), given.formats.data(), 1),
      [clear = pq.clear](void* each) { clear(static_cast<PGresult*>(each)); });
  auto* raw = static_cast<PGresult*>(result.get());
  if (const int status = pq.result_status(raw); status != kCommandOk && status != kTuplesOk)
    return state_->error_of(raw);
  return PostgresRows(std::move(result));
}

Result<void> PostgresConnection::execute(const std::string& sql) {
  const auto& pq = state_->pq;
  std::unique_ptr<PGresult, void (*)(PGresult*)> result(pq.exec(state_->connection, sql.c_str()), pq.clear);
  const int status = pq.result_status(result.get());
  if (status != kCommandOk && status != kTuplesOk) return state_->error_of(result.get());
  return {};
}

void PostgresConnection::send(const char* sql, const std::vector<PostgresParameter>& parameters) {
  const auto& pq = state_->pq;
  if (state_->sent == 0) state_->send_failed = pq.enter_pipeline(state_->connection) == 0;
  ++state_->sent;
  const State::Given given(parameters);
  if (pq.send_params(state_->connection, sql, static_cast<int>(parameters.size()), given.types.data(),
                     given.values.data(), given.lengths.data(), given.formats.data(), 1) == 0) {
    state_->send_failed = true;
  }
}

Result<std::vector<PostgresRows>> PostgresConnection::run() {
  const auto& pq = state_->pq;
  const size_t sent = std::exchange(state_->sent, 0);
  if (state_->send_failed || pq.sync_pipeline(state_->connection) == 0) return state_->lost();
  std::vector<PostgresRows> all;
  std::optional<Error> failed;
  for (size_t index = 0; index < sent; ++index) {
    // One answer, and then a null that ends it.
    while (auto* raw = pq.get_result(state_->connection)) {
      std::shared_ptr<void> result(raw, [clear = pq.clear](void* each) { clear(static_cast<PGresult*>(each)); });
      const int status = pq.result_status(raw);
      if (status == kCommandOk || status == kTuplesOk) {
        all.emplace_back(std::move(result));
      } else if (!failed && status != kPipelineAborted) {
        failed = state_->error_of(raw);
      }
    }
    if (!state_->alive()) return failed ? *failed : state_->lost();
  }
  auto* end = pq.get_result(state_->connection);
  const bool synced = end && pq.result_status(end) == kPipelineSync;
  if (end) pq.clear(end);
  if (!synced || !state_->alive()) return state_->lost();
  pq.exit_pipeline(state_->connection);
  if (failed) return *failed;
  return all;
}

bool PostgresConnection::alive() const { return state_->alive(); }

std::shared_ptr<PostgresWire> PostgresConnection::wire() const { return state_->wire; }

}  // namespace sluice::store::postgres
