# Finds LAPACKE (the C interface of LAPACK) with the LAPACK and BLAS under it: LAPACKE::LAPACKE.
# LAPACKE is a library of its own on Debian and part of libopenblas elsewhere; both are tried.
# Also installed beside ulna-config.cmake, for programs that link ulna::static.
include(FindPackageHandleStandardArgs)

find_path(LAPACKE_INCLUDE_DIR lapacke.h PATH_SUFFIXES lapacke openblas)
find_library(LAPACKE_LIBRARY lapacke)
find_package(LAPACK QUIET)

set(LAPACKE_LIBRARIES ${LAPACK_LIBRARIES})
if(LAPACKE_LIBRARY)
    list(PREPEND LAPACKE_LIBRARIES "${LAPACKE_LIBRARY}")
elseif(LAPACK_FOUND)
    include(CheckFunctionExists)
    set(CMAKE_REQUIRED_LIBRARIES ${LAPACK_LIBRARIES} m)
    set(CMAKE_REQUIRED_QUIET ON)
    check_function_exists(LAPACKE_dgesvd_work LAPACKE_IN_LAPACK)
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(CMAKE_REQUIRED_QUIET)
endif()
if(LAPACKE_LIBRARY OR LAPACKE_IN_LAPACK)
    set(LAPACKE_USABLE TRUE)
endif()

find_package_handle_standard_args(LAPACKE
    REQUIRED_VARS LAPACKE_LIBRARIES LAPACKE_INCLUDE_DIR LAPACKE_USABLE LAPACK_FOUND
    REASON_FAILURE_MESSAGE "on Debian: apt-get install liblapacke-dev libopenblas-dev")
mark_as_advanced(LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY)

if(LAPACKE_FOUND AND NOT TARGET LAPACKE::LAPACKE)
    add_library(LAPACKE::LAPACKE INTERFACE IMPORTED)
    set_target_properties(LAPACKE::LAPACKE PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${LAPACKE_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES "${LAPACKE_LIBRARIES}")
endif()
