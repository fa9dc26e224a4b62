// Names are told apart whatever their case.
#include "router/http1/fields.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace fields_test {

TEST(Fields, AreKnownInAnyCase) {
  EXPECT_EQ(field_named("Host"), Field::host);
  EXPECT_EQ(field_named("CONTENT-LENGTH"), Field::content_length);
  EXPECT_EQ(field_named("transfer-Encoding"), Field::transfer_encoding);
  EXPECT_EQ(field_named("X-Forwarded-For"), Field::x_forwarded_for);
  EXPECT_EQ(field_named("X-Forwarded-Proto"), Field::x_forwarded_proto);
  EXPECT_EQ(field_named("X-Sluice-Debug-Token"), Field::sluice_token);
  EXPECT_EQ(field_named("x-sluice-tenant"), Field::sluice_tenant);
  EXPECT_EQ(field_named("X-Sluice-Client-Id"), Field::sluice_client_id);
  EXPECT_EQ(field_named("Proxy-Authenticate"), Field::hop_by_hop);
  EXPECT_EQ(field_named("TE"), Field::hop_by_hop);
  EXPECT_EQ(field_named("Proxy-Authorization"), Field::hop_by_hop);
  EXPECT_EQ(field_named("traceparent"), Field::traceparent);
  EXPECT_EQ(field_named("TraceState"), Field::tracestate);
  EXPECT_EQ(field_named("Hosts"), Field::other);
  EXPECT_EQ(field_named("Hoss"), Field::other);
  EXPECT_EQ(field_named(""), Field::other);
}

TEST(Fields, ListsAreReadElementByElement) {
  std::string_view list = " a ,, b\t,c", element;
  std::string all;
  while (next_element(list, element)) all += std::string(element) + "|";
  EXPECT_EQ(all, "a|b|c|");
}

TEST(Fields, TokensHaveNoBlanksAndNoQuotes) {
  EXPECT_TRUE(is_token("x-1!"));
  EXPECT_FALSE(is_token("a b"));
  EXPECT_FALSE(is_token("\"a\""));
  EXPECT_FALSE(is_token(""));
  EXPECT_FALSE(is_token("\xc3\xa9"));
}

}  // namespace fields_test
}  // namespace sluice::router
