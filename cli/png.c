/* A picture as PNG, through libpng. */
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

#include "cli/raster.h"

#define SCALE 2 /* pixels to a unit: sharp on dense screens and on paper */

/* What libpng's callbacks share with the writer. */
typedef struct target {
    const ulna_sink *sink;
    ulna_status status;
    jmp_buf end;
} target;

static void end_writing(png_structp png, png_const_charp message)
{
    (void)message;
    target *file = png_get_error_ptr(png);
    if (!file->status)
        file->status = ULNA_ERR_MEMORY; /* with pictures of ours nothing else is left */
    longjmp(file->end, 1);
}

static void ignore_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void write_bytes(png_structp png, png_bytep data, size_t bytes)
{
    target *file = png_get_io_ptr(png);
    file->status = file->sink->write(file->sink->context, (const char *)data, bytes);
    if (file->status)
        png_error(png, "cannot write");
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static void write_rows(png_structp png, raster *grid, unsigned char *pixels)
{
    for (int top = 0; top < grid->height; top += RASTER_ROWS) {
        raster_band(grid, top, pixels);
        for (int i = 0; i < RASTER_ROWS && top + i < grid->height; i++)
            png_write_row(png, pixels + (size_t)i * 3 * (size_t)grid->width);
    }
}

/* Everything that may jump to file->end. */
static void write_all(png_structp png, png_infop info, raster *grid, unsigned char *pixels)
{
    const png_uint_32 dots_a_metre = (png_uint_32)(SCALE * 96 / 0.0254 + 0.5);
    png_set_IHDR(png, info, (png_uint_32)grid->width, (png_uint_32)grid->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_pHYs(png, info, dots_a_metre, dots_a_metre, PNG_RESOLUTION_METER);
    png_set_filter(png, 0, PNG_FILTER_NONE);
    png_set_compression_level(png, 9);
    png_write_info(png, info);
    write_rows(png, grid, pixels);
    png_write_end(png, info);
}

ulna_status picture_write_png(const picture *paper, const ulna_sink *sink)
{
    raster grid;
    target file = {.sink = sink};
    ulna_status status = raster_create(paper, SCALE, &grid);
    if (status)
        return status;
    unsigned char *pixels = malloc(3 * (size_t)grid.width * RASTER_ROWS);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &file, end_writing, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!pixels || !info)
        file.status = ULNA_ERR_MEMORY;
    else if (setjmp(file.end) == 0) {
        png_set_write_fn(png, &file, write_bytes, flush_nothing);
        write_all(png, info, &grid, pixels);
    }
    png_destroy_write_struct(&png, &info);
    free(pixels);
    raster_release(&grid);
    return file.status;
}
