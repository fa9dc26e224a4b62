# Writes the commit of the source tree into a header, at every build, and touches the header only when it has changed:
# cmake -DSOURCE=… -DHEADER=… -P commit.cmake
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "// The commit that this build is of.\n#pragma once\nconstexpr char kCommit[] = \"${commit}\";\n")
set(before "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
