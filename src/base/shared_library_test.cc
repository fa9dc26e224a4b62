// A library is found with its functions, or the error says what is missing.
#include "base/shared_library.h"

#include <gtest/gtest.h>

namespace sluice {
namespace shared_library_test {

TEST(SharedLibrary, HasItsFunctions) {
  auto library = SharedLibrary::open("libm.so.6", "libc6");
  ASSERT_TRUE(library) << library.error().message;
  auto cosine = library->symbol<double(double)>("cos");
  ASSERT_TRUE(cosine) << cosine.error().message;
  EXPECT_EQ((*cosine)(0), 1);
  EXPECT_EQ(library->symbol<void()>("no_such_function").error().message,
            "the library libm.so.6 has no no_such_function");
}

TEST(SharedLibrary, NamesThePackageOfOneThatIsMissing) {
  auto library = SharedLibrary::open("libnothing.so.7", "libnothing7");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, Code::unavailable);
  EXPECT_EQ(library.error().next, "install it: apt install libnothing7");
}

}  // namespace shared_library_test
}  // namespace sluice
