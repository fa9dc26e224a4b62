// The order is in a memfd: it has secrets, and is nobody else's.
#include "router/worker_order.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "base/document.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"

namespace sluice::router {

constexpr std::string_view kWorkerOrderSchema = "sluice.router-worker.v1";

struct OrderedPlace {
  std::string at;
  std::vector<int64_t> fds;
};
BOOST_DESCRIBE_STRUCT(OrderedPlace, (), (at, fds))

struct WorkerOrderDocument {
  std::string schema = std::string(kWorkerOrderSchema);
  std::string name, router, folder, table_file, access_log;
  std::vector<std::string> trusted;
  std::string bounds_file;
  std::vector<std::string> bounds_trusted;
  std::string certificates, challenges;
  int64_t tickets_hour = 0;
  std::string tickets_secret;
  std::string hash_first, hash_second;
  int64_t threads = 1, drain_ms = 0, master_pid = 0, spare = -1, gauges = -1, channel = -1, pins = -1;
  bool takes_over = false;
  std::vector<OrderedPlace> listen;
  OrderedPlace control, admin;
};
BOOST_DESCRIBE_STRUCT(WorkerOrderDocument, (),
                      (schema, name, router, folder, table_file, access_log, trusted, bounds_file, bounds_trusted,
                       certificates, challenges, tickets_hour, tickets_secret, hash_first, hash_second, threads,
                       drain_ms, master_pid, spare, gauges, channel, pins, takes_over, listen, control, admin))

namespace {

constexpr size_t kMaxOrder = 1 << 20;
constexpr std::string_view kWorkerWord = "router-worker";

OrderedPlace place_as_ordered(const ListeningPlace& place) {
  return {.at = place.fds.empty() || place.fds.front() < 0 ? "" : to_string(place),
          .fds = {place.fds.begin(), place.fds.end()}};
}

Result<ListeningPlace> place_of(const OrderedPlace& ordered) {
  ListeningPlace place;
  place.fds.assign(ordered.fds.begin(), ordered.fds.end());
  if (ordered.at.empty()) return place;
  auto at = parse_listen(ordered.at);
  if (!at) return at.error();
  place.address = at->address;
  place.secure = at->secure;
  place.proxied = at->proxied;
  return place;
}

std::vector<std::string> keys_as_texts(const std::vector<crypto::PublicKey>& keys) {
  std::vector<std::string> texts;
  for (const crypto::PublicKey& each : keys) texts.push_back(crypto::to_base64(each.raw()));
  return texts;
}

Result<std::vector<crypto::PublicKey>> keys_in(const std::vector<std::string>& texts) {
  std::vector<crypto::PublicKey> keys;
  for (const std::string& each : texts) {
    auto raw = crypto::from_base64(each);
    if (!raw) return raw.error();
    auto key = crypto::PublicKey::from_raw(*raw);
    if (!key) return key.error();
    keys.push_back(*std::move(key));
  }
  return keys;
}

// Descriptors that the program is to have.
void keep_open(const WorkerPlan& plan, const WorkerPlaces& places) {
  auto keep = [](int fd) {
    if (fd >= 0) ::fcntl(fd, F_SETFD, 0);
  };
  for (const ListeningPlace& each : places.listen) {
    for (int fd : each.fds) keep(fd);
  }
  for (const ListeningPlace* each : {&places.control, &places.admin}) {
    for (int fd : each->fds) keep(fd);
  }
  for (int fd : {plan.spare, plan.gauges, plan.channel, plan.pins}) keep(fd);
}

}  // namespace

std::string worker_order(const WorkerPlan& plan, const WorkerPlaces& places) {
  WorkerOrderDocument order{
      .name = plan.name,
      .router = plan.router,
      .folder = plan.folder,
      .table_file = plan.table_file,
      .access_log = plan.access_log,
      .trusted = keys_as_texts(plan.trusted),
      .bounds_file = plan.bounds_file,
      .bounds_trusted = keys_as_texts(plan.bounds_trusted),
      .certificates = plan.certificates,
      .challenges = plan.challenges,
      .tickets_hour = plan.tickets.hour,
      .tickets_secret =
          crypto::to_base64({reinterpret_cast<const char*>(plan.tickets.secret.data()), plan.tickets.secret.size()}),
      .hash_first = std::to_string(plan.hash_key.first),
      .hash_second = std::to_string(plan.hash_key.second),
      .threads = static_cast<int64_t>(plan.threads),
      .drain_ms = plan.drain_ms,
      .master_pid = plan.master_pid,
      .spare = plan.spare,
      .gauges = plan.gauges,
      .channel = plan.channel,
      .pins = plan.pins,
      .takes_over = plan.takes_over,
      .control = place_as_ordered(places.control),
      .admin = place_as_ordered(places.admin)};
  for (const ListeningPlace& each : places.listen) order.listen.push_back(place_as_ordered(each));
  return write(to_json(order));
}

Result<std::pair<WorkerPlan, WorkerPlaces>> read_worker_order(std::string_view text) {
  auto parsed = parse_json(text, "the master's order");
  if (!parsed) return parsed.error();
  auto order = read<WorkerOrderDocument>(*parsed);
  if (!order) return order.error();
  auto trusted = keys_in(order->trusted);
  if (!trusted) return trusted.error();
  auto bounds_trusted = keys_in(order->bounds_trusted);
  if (!bounds_trusted) return bounds_trusted.error();
  auto secret = crypto::from_base64(order->tickets_secret);
  WorkerPlan plan{.name = order->name,
                  .router = order->router,
                  .folder = order->folder,
                  .table_file = order->table_file,
                  .access_log = order->access_log,
                  .trusted = *std::move(trusted),
                  .bounds_file = order->bounds_file,
                  .bounds_trusted = *std::move(bounds_trusted),
                  .certificates = order->certificates,
                  .challenges = order->challenges,
                  .tickets = {.hour = order->tickets_hour},
                  .threads = static_cast<size_t>(order->threads),
                  .drain_ms = order->drain_ms,
                  .master_pid = static_cast<int>(order->master_pid),
                  .spare = static_cast<int>(order->spare),
                  .gauges = static_cast<int>(order->gauges),
                  .channel = static_cast<int>(order->channel),
                  .takes_over = order->takes_over,
                  .pins = static_cast<int>(order->pins)};
  auto number = [](const std::string& digits, uint64_t& into) {
    auto done = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return done.ec == std::errc() && done.ptr == digits.data() + digits.size();
  };
  if (!secret || secret->size() != plan.tickets.secret.size() || !number(order->hash_first, plan.hash_key.first) ||
      !number(order->hash_second, plan.hash_key.second) || order->threads < 1) {
    return Error{.code = Code::invalid, .message = "the master's order is damaged"};
  }
  std::memcpy(plan.tickets.secret.data(), secret->data(), secret->size());
  WorkerPlaces places;
  for (const OrderedPlace& each : order->listen) {
    auto place = place_of(each);
    if (!place) return place.error();
    places.listen.push_back(*std::move(place));
  }
  auto control = place_of(order->control);
  if (!control) return control.error();
  places.control = *std::move(control);
  auto admin = place_of(order->admin);
  if (!admin) return admin.error();
  places.admin = *std::move(admin);
  return std::pair{std::move(plan), std::move(places)};
}

void become_worker(const std::string& binary, const WorkerPlan& plan, const WorkerPlaces& places) {
  const std::string text = worker_order(plan, places);
  const int fd = static_cast<int>(::memfd_create("router-worker", 0));
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return;
  keep_open(plan, places);
  std::string program = binary, word(kWorkerWord), number = std::to_string(fd);
  char* words[] = {program.data(), word.data(), number.data(), nullptr};
  ::execv(binary.c_str(), words);
}

std::optional<int> serve_as_worker(int count, char** words, Disk& disk) {
  if (count != 3 || words[1] != kWorkerWord) return std::nullopt;
  int fd = -1;
  const std::string_view digits = words[2];
  std::from_chars(digits.data(), digits.data() + digits.size(), fd);
  std::string text(kMaxOrder, '\0');
  const ssize_t size = fd >= 0 ? ::pread(fd, text.data(), text.size(), 0) : -1;
  if (size <= 0) {
    narrate("a worker is started by its master alone");
    return exit_code(Code::usage);
  }
  ::close(fd);
  text.resize(static_cast<size_t>(size));
  auto order = read_worker_order(text);
  if (!order) {
    narrate("the worker cannot begin: " + to_string(order.error()));
    return exit_code(order.error().code);
  }
  auto& [plan, places] = *order;
  auto own = [](int each) {
    if (each >= 0) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  };
  for (const ListeningPlace& each : places.listen) {
    for (int each_fd : each.fds) own(each_fd);
  }
  for (int each :
       {places.control.fds.front(), places.admin.fds.front(), plan.spare, plan.gauges, plan.channel, plan.pins}) {
    own(each);
  }
  return run_worker(plan, places, disk);
}

}  // namespace sluice::router
