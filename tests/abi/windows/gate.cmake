# SPDX-License-Identifier: MIT OR Apache-2.0
set(gate ${CMAKE_CURRENT_SOURCE_DIR}/gate)
set(library $<TARGET_FILE:hypomnesis>)

hmn_add_suite(abi.exports COMMAND ${gate}/pe_exports.sh ${CMAKE_OBJDUMP} ${library}
  ${PROJECT_SOURCE_DIR}/abi/exports.txt $<TARGET_FILE_NAME:hypomnesis>)
hmn_add_suite(abi.needed COMMAND ${gate}/pe_needed.sh ${CMAKE_OBJDUMP} ${library})
hmn_add_suite(abi.hardening COMMAND ${gate}/pe_hardening.sh ${CMAKE_OBJDUMP} ${library})

# Frozen layouts, by the compiler that the library is built with.
file(GLOB layouts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/layout_v*.c)
hmn_add_suite(abi.layout COMMAND ${gate}/pe_layout.sh ${CMAKE_C_COMPILER}
  ${PROJECT_SOURCE_DIR}/include ${layouts})

# The gates must also fail on planted errors.
hmn_add_suite(abi.canaries COMMAND ${HMN_PYTHON} -B ${gate}/pe_canaries.py ${PROJECT_SOURCE_DIR}
  ${CMAKE_C_COMPILER} ${CMAKE_OBJDUMP})
