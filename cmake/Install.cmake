# Headers, both libraries, pkg-config and CMake packages, the tool, its man page and completion for shells.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ulna")

install(DIRECTORY include/ulna DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/include/ulna/version.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ulna")
install(TARGETS ulna_shared EXPORT ulna-shared-targets)
install(TARGETS ulna_static EXPORT ulna-static-targets)
if(TARGET ulna)
    install(TARGETS ulna)
    if(NOT CMAKE_CROSSCOMPILING)
        set(completion "${PROJECT_BINARY_DIR}/completion")
        install(FILES "${completion}/ulna.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME ulna)
        install(FILES "${completion}/ulna.zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" RENAME _ulna)
        install(FILES "${completion}/ulna.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
    endif()
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/docs/ulna.1")
    install(FILES docs/ulna.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()

# The pages that help and headers name, with what they link to.
if(EXISTS "${PROJECT_SOURCE_DIR}/docs/guide.md")
    install(FILES README.md CHANGELOG.md LICENSE DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/ulna")
    install(DIRECTORY docs examples DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/ulna"
        FILES_MATCHING REGEX "\\.(md|svg|png|jpg|webp|c)$")
endif()

# find_package(ulna). The two libraries are exported apart: only the static one asks for our dependencies.
install(EXPORT ulna-shared-targets NAMESPACE ulna:: DESTINATION "${package_dir}")
install(EXPORT ulna-static-targets NAMESPACE ulna:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/ulna-config.cmake.in "${PROJECT_BINARY_DIR}/ulna-config.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ulna-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ulna-config.cmake" "${PROJECT_BINARY_DIR}/ulna-config-version.cmake"
    DESTINATION "${package_dir}")

# ulna.pc: what only a static link needs is private.
set(ULNA_PC_REQUIRES_PRIVATE "")
set(ULNA_PC_LIBS_PRIVATE "")
set(private_libraries -lm)
if(NOT ULNA_MINIMAL)
    install(FILES cmake/FindLAPACKE.cmake DESTINATION "${package_dir}")
    set(ULNA_PC_REQUIRES_PRIVATE "jansson, expat")
    list(PREPEND private_libraries ${LAPACKE_LIBRARIES})
    if(DSDP_FOUND)
        install(FILES cmake/FindDSDP.cmake DESTINATION "${package_dir}")
        list(PREPEND private_libraries ${DSDP_LIBRARY})
    endif()
    list(REMOVE_DUPLICATES private_libraries)
endif()
list(APPEND private_libraries ${openmp_flags}) # a flag of the compiler, or nothing
foreach(library ${private_libraries})
    if(IS_ABSOLUTE "${library}")
        cmake_path(GET library PARENT_PATH folder)
        cmake_path(GET library STEM name)
        if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
            string(APPEND ULNA_PC_LIBS_PRIVATE " -L${folder}")
        endif()
        string(REGEX REPLACE "^lib" " -l" name "${name}")
        string(APPEND ULNA_PC_LIBS_PRIVATE "${name}")
    else()
        string(REGEX REPLACE "^([^-])" "-l\\1" library "${library}")
        string(APPEND ULNA_PC_LIBS_PRIVATE " ${library}")
    endif()
endforeach()
string(STRIP "${ULNA_PC_LIBS_PRIVATE}" ULNA_PC_LIBS_PRIVATE)

# The package can be moved as a whole: the prefix is found from where the file lies.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE pc_folder)
cmake_path(APPEND pc_folder pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${pc_folder}" OUTPUT_VARIABLE ULNA_PC_PREFIX)
configure_file(cmake/ulna.pc.in ulna.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/ulna.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
