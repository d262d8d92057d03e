# Finds DSDP (semidefinite programs, method sdp): DSDP::DSDP. Debian: libdsdp-dev.
# Also installed beside ulna-config.cmake, for programs that link ulna::static.
include(FindPackageHandleStandardArgs)
find_path(DSDP_INCLUDE_DIR dsdp5.h PATH_SUFFIXES dsdp)
find_library(DSDP_LIBRARY dsdp)
find_package_handle_standard_args(DSDP REQUIRED_VARS DSDP_LIBRARY DSDP_INCLUDE_DIR)
mark_as_advanced(DSDP_INCLUDE_DIR DSDP_LIBRARY)

if(DSDP_FOUND AND NOT TARGET DSDP::DSDP)
    add_library(DSDP::DSDP UNKNOWN IMPORTED)
    set_target_properties(DSDP::DSDP PROPERTIES
        IMPORTED_LOCATION "${DSDP_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${DSDP_INCLUDE_DIR}")
endif()
