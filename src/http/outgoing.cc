// Each connection has an io_context of its own, which the thread that uses it runs: an operation is started, and the
// context is run until it has ended, its time is up, or nobody wants it any more.
#include "http/outgoing.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <condition_variable>
#include <memory>
#include <optional>
#include <thread>

#include "base/ascii.h"
#include "base/terminal.h"
#include "crypto/base64.h"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kSlice = std::chrono::milliseconds(20);
constexpr int64_t kKept_ns = 30'000'000'000;
constexpr size_t kMostKept = 16;
constexpr size_t kMaxHead = 64 << 10;
constexpr size_t kMaxUrl = 8 << 10;
constexpr size_t kPiece = 64 << 10;
constexpr uint64_t kNoLimit = UINT64_MAX;

struct Lookup {
  std::mutex mutex;
  std::condition_variable done;
  bool ended = false;
  std::vector<tcp::endpoint> found;
  std::string trouble;
};

// In a thread that is left behind if it takes too long: the system's resolver cannot be stopped.
std::shared_ptr<Lookup> look_up(const std::string& host, uint16_t port) {
  auto lookup = std::make_shared<Lookup>();
  std::thread([lookup, host, port] {
    asio::io_context context;
    tcp::resolver resolver(context);
    error_code failure;
    auto results = resolver.resolve(host, std::to_string(port), tcp::resolver::numeric_service, failure);
    std::lock_guard lock(lookup->mutex);
    for (const auto& each : results) lookup->found.push_back(each.endpoint());
    if (failure) lookup->trouble = failure.message();
    lookup->ended = true;
    lookup->done.notify_all();
  }).detach();
  return lookup;
}

bool is_in(const asio::ip::address& address, const std::string& network) {
  error_code failure;
  if (network.find('/') == std::string::npos) {
    const auto one = asio::ip::make_address(network, failure);
    return !failure && one == address;
  }
  if (address.is_v4()) {
    const auto range = asio::ip::make_network_v4(network, failure);
    return !failure &&
           range.canonical() == asio::ip::make_network_v4(address.to_v4(), range.prefix_length()).canonical();
  }
  const auto range = asio::ip::make_network_v6(network, failure);
  return !failure && range.canonical() == asio::ip::make_network_v6(address.to_v6(), range.prefix_length()).canonical();
}

asio::ip::address plain(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

// What only this machine or its network can reach, and what is no address of one machine (RFC 6890).
bool is_public(const asio::ip::address& address) {
  static const std::vector<std::string> kInner = {
      "0.0.0.0/8",     "10.0.0.0/8",   "100.64.0.0/10",  "127.0.0.0/8",   "169.254.0.0/16",  "172.16.0.0/12",
      "192.0.0.0/24",  "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
      "224.0.0.0/4",   "240.0.0.0/4",  "::/128",         "::1/128",       "64:ff9b::/96",    "100::/64",
      "2001:db8::/32", "2002::/16",    "fc00::/7",       "fe80::/10",     "ff00::/8"};
  return std::ranges::none_of(kInner, [&](const std::string& each) {
    const bool v6 = each.find(':') != std::string::npos;
    return v6 == address.is_v6() && is_in(address, each);
  });
}

bool is_except(const Proxy& proxy, const std::string& host) {
  error_code failure;
  const auto address = asio::ip::make_address(host, failure);
  return std::ranges::any_of(proxy.except, [&](const std::string& each) {
    if (each == "*" || each == host) return true;
    if (!failure) return is_in(address, each);
    const std::string ending = each.starts_with('.') ? each : "." + each;
    return host.ends_with(ending);
  });
}

bool may_repeat(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

std::string basic(const std::string& user) { return "Basic " + crypto::to_base64(user); }

}  // namespace

// ----------------------------------------------------------------------------------------------------------- URLs

Result<Url> parse_url(std::string_view text) {
  auto refuse = [&](const std::string& why) {
    return Error{.code = Code::invalid, .message = "this is no URL of a server: " + why};
  };
  Url url;
  if (text.size() > kMaxUrl) return refuse("it is longer than 8 kB");
  if (text.starts_with("https://")) {
    url.tls = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return refuse("it begins with neither http:// nor https://");
  }
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; }))
    return refuse("it has blanks, or more than ASCII");
  text = text.substr(0, text.find('#'));
  const size_t slash = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, slash);
  url.target = std::string(text.substr(slash));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (size_t at = authority.rfind('@'); at != std::string_view::npos) {
    auto user = percent_decoded(authority.substr(0, at));
    if (!user) return refuse("its user is not encoded as it must be");
    url.user = *std::move(user);
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return refuse("its address has no ]");
    url.host = std::string(authority.substr(1, end - 1));
    port = authority.substr(end + 1);
    error_code failure;
    asio::ip::make_address_v6(url.host, failure);
    if (failure) return refuse("what stands in its brackets is no address");
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    url.host = std::string(authority.substr(0, colon));
    port = authority.substr(colon);
    auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; };
    if (url.host.empty() || url.host.size() > 253 || !std::ranges::all_of(url.host, fits)) {
      return refuse("its host is none");
    }
  }
  url.port = url.tls ? 443 : 80;
  if (!port.empty()) {
    if (!port.starts_with(':')) return refuse("its port is none");
    port.remove_prefix(1);
    auto read = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (read.ec != std::errc() || read.ptr != port.data() + port.size() || url.port == 0)
      return refuse("its port is none");
  }
  return url;
}

std::string shown_url(const Url& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  const bool usual = url.port == (url.tls ? 443 : 80);
  return std::string(url.tls ? "https://" : "http://") + (v6 ? "[" + url.host + "]" : url.host) +
         (usual ? "" : ":" + std::to_string(url.port)) + printable(url.target.substr(0, url.target.find('?')));
}

std::string refusal_of_address(const AddressRules& rules, std::string_view text) {
  error_code failure;
  const auto address = plain(asio::ip::make_address(std::string(text), failure));
  if (failure) return "it is no address";
  if (!rules.only_public || is_public(address)) return "";
  if (std::ranges::any_of(rules.allowed, [&](const std::string& each) { return is_in(address, each); })) return "";
  return "it is no address of the public internet";
}

Proxy proxy_of(const std::function<std::string(const std::string&)>& variable, std::string_view url) {
  auto either = [&](const std::string& large, const std::string& small) {
    const std::string text = variable(large);
    return text.empty() ? variable(small) : text;
  };
  Proxy proxy;
  proxy.url = url.starts_with("https://") ? either("HTTPS_PROXY", "https_proxy") : either("HTTP_PROXY", "http_proxy");
  std::string all = either("NO_PROXY", "no_proxy");
  for (size_t begin = 0; begin < all.size();) {
    const size_t comma = std::min(all.find(',', begin), all.size());
    std::string one = all.substr(begin, comma - begin);
    std::erase(one, ' ');
    if (!one.empty()) proxy.except.push_back(std::move(one));
    begin = comma + 1;
  }
  return proxy;
}

// ---------------------------------------------------------------------------------------------------- connections

struct Outgoing::Connection {
  std::string origin;  // "https://vault.example:8200"
  int64_t until_ns = 0;
  asio::io_context context{1};
  asio::ssl::context tls_context{asio::ssl::context::tls_client};
  tcp::socket socket{context};
  std::optional<asio::ssl::stream<tcp::socket&>> tls;
  beast::flat_buffer buffer;
};

// One request on one connection.
class Outgoing::Exchange {
 public:
  Exchange(Outgoing& owner, const OutgoingRequest& request, Url url)
      : owner_(owner), request_(request), url_(std::move(url)) {
    renew_deadline();
  }

  Result<OutgoingAnswer> run() {
    const Proxy& proxy = owner_.settings_.proxy;
    if (!proxy.url.empty() && !is_except(proxy, url_.host)) {
      auto parsed = parse_url(proxy.url);
      if (!parsed) return Error{.code = Code::invalid, .message = "the URL of the proxy is none"};
      proxy_ = *std::move(parsed);
    }
    const std::string origin = origin_of();
    for (bool again = true;;) {
      connection_ = again ? owner_.take_kept(origin) : nullptr;
      const bool kept = connection_ != nullptr;
      if (!kept) {
        if (auto connected = connect(origin); !connected) return connected.error();
      }
      answered_ = false;
      auto answer = exchange();
      if (answer || !kept || answered_ || !may_repeat(request_.method) || request_.upload ||
          answer.error().code != Code::unavailable) {
        return answer;
      }
      again = false;
    }
  }

 private:
  Error failed(Code code, const std::string& why) const {
    return {.code = code, .message = request_.method + " " + shown_url(url_) + ": " + why};
  }
  Error of(const error_code& failure, const std::string& doing) const {
    if (late_)
      return failed(Code::timeout, "there was no answer within " + std::to_string(request_.timeout_ms) + " ms");
    if (unwanted_) return failed(Code::unavailable, "it was cancelled");
    return failed(Code::unavailable, doing + ": " + failure.message());
  }

  std::string origin_of() const {
    Url root = url_;
    root.target = "/";
    return shown_url(root) + " " + owner_.settings_.tls.server_name + (proxy_ ? " by " + proxy_->host : "");
  }

  void renew_deadline() { deadline_ns_ = owner_.clock_.monotonic_ns() + request_.timeout_ms * 1'000'000; }
  bool is_over() {
    late_ = owner_.clock_.monotonic_ns() >= deadline_ns_;
    unwanted_ = request_.cancelled && request_.cancelled();
    return late_ || unwanted_;
  }

  // Starts an operation, and runs the context until it has ended.
  template <class Start>
  error_code await(Start start) {
    bool done = false;
    error_code failure;
    start([&](const error_code& ended, auto&&...) {
      failure = ended;
      done = true;
    });
    asio::io_context& context = connection_->context;
    context.restart();
    while (!done) {
      context.run_one_for(kSlice);
      if (done || !is_over()) continue;
      error_code ignored;
      connection_->socket.close(ignored);
      while (!done) context.run_one();
    }
    return failure;
  }

  Result<std::vector<tcp::endpoint>> looked_up(const std::string& host, uint16_t port) {
    auto lookup = look_up(host, port);
    std::unique_lock lock(lookup->mutex);
    while (!lookup->ended) {
      lookup->done.wait_for(lock, kSlice);
      if (!lookup->ended && is_over()) return of({}, "");
    }
    if (!lookup->found.empty()) return lookup->found;
    return failed(Code::unavailable, "the name " + host + " leads to no address: " + lookup->trouble);
  }

  Result<std::vector<tcp::endpoint>> allowed_addresses() {
    auto all = looked_up(url_.host, url_.port);
    if (!all) return all;
    std::vector<tcp::endpoint> may;
    std::string refused;
    for (const tcp::endpoint& each : *all) {
      const std::string text = each.address().to_string();
      const std::string why = refusal_of_address(owner_.settings_.addresses, text);
      if (why.empty()) {
        may.push_back(each);
      } else {
        refused = text + " may not be connected to: " + why;
      }
    }
    if (may.empty()) return failed(Code::denied, refused);
    return may;
  }

  Result<void> connect(const std::string& origin) {
    connection_ = std::make_unique<Connection>();
    connection_->origin = origin;
    // A proxy looks names up by itself, but an address in the URL is known here.
    if (error_code none; proxy_ && (asio::ip::make_address(url_.host, none), !none)) {
      const std::string why = refusal_of_address(owner_.settings_.addresses, url_.host);
      if (!why.empty()) return failed(Code::denied, url_.host + " may not be connected to: " + why);
    }
    auto addresses = proxy_ ? looked_up(proxy_->host, proxy_->port) : allowed_addresses();
    if (!addresses) return addresses.error();
    const error_code failure =
        await([&](auto then) { asio::async_connect(connection_->socket, *addresses, std::move(then)); });
    if (failure) return of(failure, "cannot connect");
    error_code ignored;
    connection_->socket.set_option(tcp::no_delay(true), ignored);
    if (proxy_ && url_.tls) {
      if (auto tunnel = ask_for_tunnel(); !tunnel) return tunnel;
    }
    return url_.tls ? begin_tls() : Result<void>();
  }

  std::string authority() const {
    const bool v6 = url_.host.find(':') != std::string::npos;
    return (v6 ? "[" + url_.host + "]" : url_.host) + ":" + std::to_string(url_.port);
  }

  Result<void> ask_for_tunnel() {
    beast::http::request<beast::http::empty_body> ask(beast::http::verb::connect, authority(), 11);
    ask.set(beast::http::field::host, authority());
    if (!proxy_->user.empty()) ask.set(beast::http::field::proxy_authorization, basic(proxy_->user));
    error_code failure = await([&](auto then) { beast::http::async_write(connection_->socket, ask, std::move(then)); });
    if (failure) return of(failure, "the proxy took no request");
    beast::http::response_parser<beast::http::empty_body> parser;
    parser.skip(true);
    failure = await([&](auto then) {
      beast::http::async_read_header(connection_->socket, connection_->buffer, parser, std::move(then));
    });
    if (failure) return of(failure, "the proxy did not answer");
    if (parser.get().result_int() != 200) {
      return failed(Code::unavailable, "the proxy answered " + std::to_string(parser.get().result_int()));
    }
    connection_->buffer.clear();
    return {};
  }

  Result<void> begin_tls() {
    const Tls& tls = owner_.settings_.tls;
    asio::ssl::context& context = connection_->tls_context;
    error_code failure;
    context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                            asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                            asio::ssl::context::no_tlsv1_1,
                        failure);
    if (tls.roots_pem.empty()) {
      context.set_default_verify_paths(failure);
    } else {
      context.add_certificate_authority(asio::buffer(tls.roots_pem), failure);
      if (failure) return failed(Code::invalid, "the certificates to believe cannot be read");
    }
    if (!tls.chain_pem.empty()) {
      context.use_certificate_chain(asio::buffer(tls.chain_pem), failure);
      if (!failure) context.use_private_key(asio::buffer(tls.key_pem), asio::ssl::context::pem, failure);
      if (failure) return failed(Code::invalid, "its own certificate or key cannot be read");
    }
    const std::string name = tls.server_name.empty() ? url_.host : tls.server_name;
    connection_->tls.emplace(connection_->socket, context);
    auto& stream = *connection_->tls;
    stream.set_verify_mode(asio::ssl::verify_peer);
    stream.set_verify_callback(asio::ssl::host_name_verification(name));
    if (error_code none; asio::ip::make_address(name, none), none) {
      SSL_set_tlsext_host_name(stream.native_handle(), name.c_str());
    }
    failure = await([&](auto then) { stream.async_handshake(asio::ssl::stream_base::client, std::move(then)); });
    if (!failure) return {};
    const long verdict = SSL_get_verify_result(stream.native_handle());
    if (!late_ && !unwanted_ && verdict != X509_V_OK) {
      return failed(Code::verification_failed, "its certificate is not to be believed for " + name + ": " +
                                                   X509_verify_cert_error_string(verdict));
    }
    return of(failure, "TLS could not begin");
  }

  template <class Start>
  error_code on_stream(Start start) {
    if (connection_->tls) {
      return await([&](auto then) { start(*connection_->tls, std::move(then)); });
    }
    return await([&](auto then) { start(connection_->socket, std::move(then)); });
  }

  Result<void> send_request() {
    beast::http::request<beast::http::string_body> ask;
    ask.version(11);
    ask.method_string(request_.method);
    const bool by_proxy = proxy_ && !url_.tls;
    ask.target(by_proxy ? "http://" + authority() + url_.target : url_.target);
    const bool usual = url_.port == (url_.tls ? 443 : 80);
    ask.set(beast::http::field::host, usual ? authority().substr(0, authority().rfind(':')) : authority());
    ask.set(beast::http::field::user_agent, "sluice");
    ask.set(beast::http::field::accept_encoding, "identity");
    if (by_proxy && !proxy_->user.empty()) ask.set(beast::http::field::proxy_authorization, basic(proxy_->user));
    for (const Header& each : request_.headers) ask.insert(each.name, each.value);
    const bool takes_body = request_.method != "GET" && request_.method != "HEAD";
    if (request_.upload) {
      ask.content_length(request_.upload_bytes);
    } else {
      ask.body() = request_.body;
      if (takes_body || !request_.body.empty()) ask.content_length(request_.body.size());
    }
    beast::http::request_serializer<beast::http::string_body> serializer(ask);
    error_code failure = on_stream([&](auto& stream, auto then) {
      if (request_.upload) {
        beast::http::async_write_header(stream, serializer, std::move(then));
      } else {
        beast::http::async_write(stream, serializer, std::move(then));
      }
    });
    if (failure) return of(failure, "it could not be sent");
    for (uint64_t sent = 0; request_.upload && sent < request_.upload_bytes;) {
      auto piece = request_.upload(std::min<uint64_t>(kPiece, request_.upload_bytes - sent));
      if (!piece) return piece.error();
      if (piece->empty() || piece->size() > request_.upload_bytes - sent) {
        return failed(Code::invalid, "what is to be sent has another length than was said");
      }
      failure =
          on_stream([&](auto& stream, auto then) { asio::async_write(stream, asio::buffer(*piece), std::move(then)); });
      if (failure) return of(failure, "it could not be sent");
      sent += piece->size();
      renew_deadline();
    }
    return {};
  }

  Result<OutgoingAnswer> exchange() {
    // A server that refuses may answer, and close, before it has read everything: what it says is read all the same.
    auto sent = send_request();
    if (!sent && (late_ || unwanted_ || sent.error().code != Code::unavailable)) return sent.error();
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.header_limit(kMaxHead);
    parser.body_limit(request_.download ? boost::optional<uint64_t>(kNoLimit)
                                        : boost::optional<uint64_t>(request_.most_bytes));
    if (request_.method == "HEAD") parser.skip(true);
    do {
      const error_code failure = on_stream([&](auto& stream, auto then) {
        beast::http::async_read_header(stream, connection_->buffer, parser, std::move(then));
      });
      if (failure) return !sent ? sent.error() : of_answer(failure);
    } while (parser.get().result_int() / 100 == 1 && parser.get().result_int() != 101);
    answered_ = true;
    OutgoingAnswer answer{.status = static_cast<int>(parser.get().result_int())};
    for (const auto& each : parser.get()) {
      answer.headers.push_back({std::string(each.name_string()), std::string(each.value())});
    }
    const bool downloads = request_.download && (!request_.downloads || request_.downloads(answer.status));
    const auto piece = std::make_unique_for_overwrite<char[]>(kPiece);
    // It is read as far as there is room, else by 512 bytes.
    if (!parser.is_done()) connection_->buffer.reserve(kPiece);
    while (!parser.is_done()) {
      parser.get().body().data = piece.get();
      parser.get().body().size = kPiece;
      parser.get().body().more = true;
      error_code failure = on_stream([&](auto& stream, auto then) {
        beast::http::async_read_some(stream, connection_->buffer, parser, std::move(then));
      });
      if (failure == beast::http::error::need_buffer) failure = {};
      if (failure) return of_answer(failure);
      const size_t got = kPiece - parser.get().body().size;
      if (got == 0) continue;
      if (!downloads) {
        if (got > request_.most_bytes - answer.body.size()) return of_answer(beast::http::error::body_limit);
        answer.body.append(piece.get(), got);
      } else {
        if (!request_.download(std::string_view(piece.get(), got)))
          return failed(Code::unavailable, "it was cancelled");
        renew_deadline();
      }
    }
    if (parser.keep_alive() && sent) owner_.keep(std::move(connection_));
    return answer;
  }

  Error of_answer(const error_code& failure) const {
    if (failure == beast::http::error::body_limit) {
      return failed(Code::limit, "its answer has more than " + std::to_string(request_.most_bytes) + " bytes");
    }
    if (failure == beast::http::error::header_limit)
      return failed(Code::limit, "the head of its answer has more than 64 kB");
    if (failure == beast::http::error::end_of_stream || failure == beast::http::error::partial_message ||
        failure == asio::ssl::error::stream_truncated || failure == asio::error::eof) {
      return failed(Code::unavailable, "the connection was closed before the answer was complete");
    }
    if (failure.category() == beast::http::make_error_code(beast::http::error::bad_version).category()) {
      return failed(Code::unavailable, "what it answered is no HTTP: " + failure.message());
    }
    return of(failure, "its answer could not be read");
  }

  Outgoing& owner_;
  const OutgoingRequest& request_;
  Url url_;
  std::optional<Url> proxy_;
  std::unique_ptr<Connection> connection_;
  int64_t deadline_ns_ = 0;
  bool late_ = false, unwanted_ = false, answered_ = false;
};

Outgoing::Outgoing(Settings settings, const Clock& clock) : settings_(std::move(settings)), clock_(clock) {}
Outgoing::~Outgoing() = default;

Result<OutgoingAnswer> Outgoing::send(const OutgoingRequest& request) {
  auto url = parse_url(request.url);
  if (!url) return url.error();
  return Exchange(*this, request, *std::move(url)).run();
}

std::unique_ptr<Outgoing::Connection> Outgoing::take_kept(const std::string& origin) {
  std::lock_guard lock(mutex_);
  const int64_t now_ns = clock_.monotonic_ns();
  std::erase_if(kept_, [&](const auto& each) { return each->until_ns <= now_ns; });
  auto found = std::ranges::find_if(kept_, [&](const auto& each) { return each->origin == origin; });
  if (found == kept_.end()) return nullptr;
  auto taken = std::move(*found);
  kept_.erase(found);
  return taken;
}

void Outgoing::keep(std::unique_ptr<Connection> connection) {
  std::lock_guard lock(mutex_);
  connection->until_ns = clock_.monotonic_ns() + kKept_ns;
  kept_.push_back(std::move(connection));
  if (kept_.size() > kMostKept) kept_.erase(kept_.begin());
}

}  // namespace sluice::http
