# Files of text inside the program: ulna_embed(<target> <file>...) makes report.css the C string `report_css`, which the
# code declares as `extern const char report_css[];`. The build does it again when the file changes, with CMake alone.
# Modules (.mjs) lose their imports and the word `export`, so that a page can join them into one.
if(CMAKE_SCRIPT_MODE_FILE) # cmake -D INPUT=<file> -D OUTPUT=<C file> -P Embed.cmake
    cmake_path(GET INPUT FILENAME name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    if(INPUT MATCHES "\\.mjs$")
        file(READ "${INPUT}" text)
        string(REGEX REPLACE "\nimport [^\n]*" "" text "\n${text}")
        string(REGEX REPLACE "\nexport " "\n" text "${text}")
        string(HEX "${text}" bytes)
    else()
        file(READ "${INPUT}" bytes HEX)
    endif()
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(REPLACE "'\\x0a'," "'\\n',\n" bytes "${bytes}")
    file(WRITE "${OUTPUT}" "extern const char ${name}[];\nconst char ${name}[] = {\n${bytes}0};\n")
    return()
endif()

set(ULNA_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
function(ulna_embed target)
    foreach(file ${ARGN})
        cmake_path(GET file FILENAME name)
        set(output "${PROJECT_BINARY_DIR}/embedded/${name}.c")
        add_custom_command(OUTPUT "${output}" DEPENDS "${file}" "${ULNA_EMBED_SCRIPT}" VERBATIM
            COMMAND "${CMAKE_COMMAND}" -D "INPUT=${file}" -D "OUTPUT=${output}" -P "${ULNA_EMBED_SCRIPT}"
            COMMENT "Embedding ${name}")
        target_sources(${target} PRIVATE "${output}")
    endforeach()
endfunction()
