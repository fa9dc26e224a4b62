// A connection to PostgreSQL, through libpq, which is loaded when it is first needed. Parameters and results are
// binary, so bytes stay what they are.
//
//   auto connection = PostgresConnection::open("postgresql://sluice@/sluice?host=/run/postgresql");
//   auto rows = (*connection)->query("SELECT seq FROM journal WHERE flow = $1", {bytes(flow)});
//   (*rows).integer(0, 0)
//
// A pipeline sends several statements and waits once, at its end: what a batch takes is one round trip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::store::postgres {

struct PostgresParameter {
  uint32_t type = 0;
  std::string value;  // as the server's binary format has it
};

PostgresParameter parameter(std::string_view bytes);
PostgresParameter parameter(int64_t number);
PostgresParameter parameter(const std::vector<std::string>& bytes);
PostgresParameter parameter(const std::vector<int64_t>& numbers);

// The rows of one answer.
class PostgresRows {
 public:
  explicit PostgresRows(std::shared_ptr<void> result);

  size_t size() const { return rows_; }
  bool null(size_t row, int column) const;
  std::string bytes(size_t row, int column) const;  // empty for null
  int64_t integer(size_t row, int column) const;    // 0 for null; of int4, int8 and bool

 private:
  std::string_view field(size_t row, int column) const;

  std::shared_ptr<void> result_;
  size_t rows_ = 0;
};

// The socket of a connection, which it outlives.
class PostgresWire {
 public:
  explicit PostgresWire(int socket);  // of which it keeps a copy
  ~PostgresWire();
  PostgresWire(const PostgresWire&) = delete;
  PostgresWire& operator=(const PostgresWire&) = delete;

  void cut();  // from any thread

 private:
  const int socket_;
};

class PostgresConnection {
 public:
  // An error never shows the password.
  static Result<std::unique_ptr<PostgresConnection>> open(const std::string& address);
  ~PostgresConnection();

  Result<PostgresRows> query(const char* sql, const std::vector<PostgresParameter>& parameters = {});
  // Several statements without parameters.
  Result<void> execute(const std::string& sql);

  // Sends; the answers come by run(), in order, once all was sent. After a failure the statements behind it did
  // nothing, and run() has the failure.
  void send(const char* sql, const std::vector<PostgresParameter>& parameters = {});
  Result<std::vector<PostgresRows>> run();

  // False once the wire is cut: what was under way then may have happened.
  bool alive() const;

  // The wire itself, by which another thread may end a call that waits for a server that says nothing.
  std::shared_ptr<PostgresWire> wire() const;

 private:
  struct State;
  explicit PostgresConnection(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace sluice::store::postgres
