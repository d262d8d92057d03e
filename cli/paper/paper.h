/*
 * paper.h: the parts of `ulna paper`: items of the papers, the data they need, sheets of numbers, pictures, the page.
 *
 * An item runs its experiment and writes its numbers as sheets (CSV). Pictures and the page are made from the sheets as they
 * are read back from the files, so that every figure shown is one of a file. What a paper reports is a sheet as well.
 */
#ifndef ULNA_CLI_PAPER_H
#define ULNA_CLI_PAPER_H

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/markup.h"
#include "cli/output.h"
#include "ulna/calibrate.h"
#include "ulna/mocap.h"

/* ---- sheets: sheet.c ------------------------------------------------------------------------------------------------ */

/* A table of numbers and words: written row by row as CSV, or read from such a file. */
typedef struct sheet {
    ulna_text text;
    ulna_status status; /* once memory is out, nothing more is kept */
    char **cells;       /* rows x columns, the first row being the headings; after sheet_load */
    int rows, columns;
} sheet;

void sheet_begin(sheet *table, const char *headings); /* "take,method,error_cm" */
void sheet_row(sheet *table, const char *format, ...) ULNA_PRINTF(2, 3);
void sheet_release(sheet *table);
/* From CSV, with quotes as in RFC 4180. Rows of another length are an error. */
ulna_status sheet_load(sheet *table, const char *path, ulna_error *error);
int sheet_count(const sheet *table);                    /* of rows below the headings */
int sheet_column(const sheet *table, const char *name); /* -1 if there is none */
const char *sheet_cell(const sheet *table, int row,
                       int column); /* row 0 is the first below the headings; "" for column -1 */
double sheet_number(const sheet *table, int row, int column); /* NaN if it is none */
/* Facts as rows of a sheet with the headings fact,value: members of members as "fixed.bfgs.solved"; and back. */
void sheet_put_facts(sheet *table, const char *prefix, const json_t *facts);
json_t *sheet_facts(const sheet *table);
/* How many different texts the column has, in the order in which they occur; the first `most` of them. */
int sheet_kinds(const sheet *table, int column, const char **kinds, int most);

/* ---- takes: takes.c --------------------------------------------------------------------------------------------------- */

/*
 * A recording with a pose for every frame, as the exact-Hessian paper uses them: 41 markers on the bones that its authors
 * chose, 58 degrees of freedom (without thumbs), 2.5189 cm an inch. Metres.
 */
typedef struct paper_take {
    char name[48];   /* "dg_03-05_02" */
    char about[240]; /* which files it is from, and whose poses these are */
    int is_recorded; /* 0: the built-in take */
    ulna_content skeleton, motion, markers;
    ulna_marker_set set;
    ulna_take *take;
    ulna_clip own;          /* poses of Ulna's own, where there is no AMC */
    const ulna_clip *poses; /* of the files, or `own` */
    int shift;              /* frame f of the take is frame f + shift of the poses */
    ulna_calibration fixed; /* offsets that hold for all frames; after paper_take_calibrate */
    int is_calibrated;
    int frames;
    int dof;               /* that move */
    unsigned char *locked; /* nv: thumbs */
    double *lower,
        *upper; /* nv: the range of the poses, and 5 % of its ends more, as in the authors' code; the root is free */
    /* nv, scales of steps: a radian counts as half a metre; or as a centimetre, as in f */
    double *strength, *centimetres;
} paper_take;

typedef struct paper_data {
    const char *folder; /* of recorded files; NULL: there is none */
    char **files;       /* below it */
    int file_count;
    paper_take *takes[12]; /* those that were opened: they stay open */
    int take_count;
    json_t *missing; /* names of takes that a paper uses and that were not found */
} paper_data;

/* Lists the files of a folder, and of folders in it. */
ulna_status paper_data_open(paper_data *data, const char *folder, ulna_error *error);
void paper_data_close(paper_data *data);
/* The file whose name contains `name` and ends with `ending`, letter case ignored; NULL if there is none. "/02_01." is where a name begins. */
const char *paper_data_file(const paper_data *data, const char *name, const char *ending);
/* The take of that name; NULL, and a line in `missing`, if the data do not have it. The status is an error of reading. */
ulna_status paper_take_find(paper_data *data, const char *name, paper_take **take, ulna_error *error);
/* The first of the names that the data have, or else the built-in take. */
ulna_status paper_take_first(paper_data *data, const char *const *names, paper_take **take, ulna_error *error);

/* Pose of a frame in the file, nq. */
const double *paper_take_pose(const paper_take *take, int frame);
/* Finds the offsets that hold for all frames, by calibration on the take itself, unless they are known. */
ulna_status paper_take_calibrate(paper_take *take, ulna_error *error);
/*
 * The problem of one frame: f = 1/2 sum |marker - its place|^2 in cm^2. Offsets are those of the frame's own pose (the oracle of the paper), so
 * that f = 0 there; or the fixed ones. NULL if no marker is seen in the frame.
 */
ulna_status paper_take_problem(const paper_take *take, int frame, int is_fixed, ulna_problem **problem,
                               ulna_error *error);

/* ---- items: items.c -------------------------------------------------------------------------------------------------- */

typedef struct paper_item paper_item;

typedef struct paper_job {
    const cli *tool;
    int is_quick;
    const char *folder;      /* where files are written */
    const char *data_folder; /* NULL: none */
    json_t *made;            /* by the names of items that are in the folder: name, notes, seconds, quick, data */
    paper_data data;
    progress bar;
    double done, share; /* of all items: before this one, and of this one */
    const paper_item *item;
    json_t *facts; /* of the item: numbers that its line quotes; the page reads them from "ITEM-facts.csv" */
    json_t *notes; /* of the item: sentences */
} paper_job;

/* `part`: 0 .. 1 of the item. */
void paper_show(paper_job *job, double part);
void paper_note(paper_job *job, const char *format, ...) ULNA_PRINTF(2, 3);
/* Writes the sheet as the file of a part, "fig3.csv" or "fig3-calls.csv". */
ulna_status paper_save(paper_job *job, const char *part, sheet *table, ulna_error *error);

typedef enum paper_drawing {
    DRAW_TABLE,   /* all cells */
    DRAW_CURVES,  /* panel, line, series, x, y: y on a logarithmic axis */
    DRAW_BOXES,   /* panel, series, value: box plots on a logarithmic axis */
    DRAW_BARS,    /* group, series, value: bars on a logarithmic axis */
    DRAW_STILLS,  /* panel, kind, and two places x, y, z: bones from one to the other, points, goals */
    DRAW_REGIONS, /* panel, x, y, region: a map of cells */
    DRAW_PLAYER   /* skeleton, frame, body, parent, x, y, z: moved by the page's script */
} paper_drawing;

typedef struct paper_part {
    const char *name; /* of the file, without ending */
    int is_reported;  /* 1: by the paper: stands to the left */
    paper_drawing drawing;
    /* That are drawn, in the order of the drawing: "take+offsets,method,error_cm". A plus joins two. */
    const char *columns;
    const char *caption;
    const char *x_title, *y_title; /* of plots */
    const char *csv;               /* what the paper reports, as CSV */
} paper_part;

struct paper_item {
    const char *name;  /* as the command line has it */
    const char *paper; /* "exact Hessian", "convex", "survey" or "recipe" */
    const char *shown; /* "Fig. 3" */
    const char *title;
    const char *claim;       /* what the paper reports, in words */
    const char *why;         /* why ours differs */
    const char *line;        /* template of a line about the facts */
    const paper_part *parts; /* up to one without a name */
    ulna_status (*run)(paper_job *job, ulna_error *error);
    int seconds; /* about, of the full size: its part of the progress bar */
};

extern const paper_item paper_items[]; /* up to one without a name */

/* The experiments, in the file of their paper. */
ulna_status paper_run_fig3(paper_job *job, ulna_error *error);
ulna_status paper_run_fig4(paper_job *job, ulna_error *error);
ulna_status paper_run_fig5(paper_job *job, ulna_error *error);
ulna_status paper_run_fig7(paper_job *job, ulna_error *error);
ulna_status paper_run_fig8(paper_job *job, ulna_error *error);
ulna_status paper_run_table3(paper_job *job, ulna_error *error);
ulna_status paper_run_table4(paper_job *job, ulna_error *error);
ulna_status paper_run_timing(paper_job *job, ulna_error *error);
ulna_status paper_run_a10(paper_job *job, ulna_error *error);
ulna_status paper_run_condition(paper_job *job, ulna_error *error);
ulna_status paper_run_stills(paper_job *job, ulna_error *error);
ulna_status paper_run_player(paper_job *job, ulna_error *error);
ulna_status paper_run_convex3(paper_job *job, ulna_error *error);
ulna_status paper_run_convex4(paper_job *job, ulna_error *error);
ulna_status paper_run_convex5(paper_job *job, ulna_error *error);
ulna_status paper_run_convex6(paper_job *job, ulna_error *error);
ulna_status paper_run_convex_time(paper_job *job, ulna_error *error);
ulna_status paper_run_survey(paper_job *job, ulna_error *error);
ulna_status paper_run_cold(paper_job *job, ulna_error *error);
ulna_status paper_run_growth(paper_job *job, ulna_error *error);
ulna_status paper_run_recipe(paper_job *job, ulna_error *error);
ulna_status paper_run_recipe8(paper_job *job, ulna_error *error);
ulna_status paper_run_clamp(paper_job *job, ulna_error *error);
ulna_status paper_run_gaps(paper_job *job, ulna_error *error);

/* ---- pictures: draw.c; the page: page.c ---------------------------------------------------------------------------------- */

/* The picture of a part as SVG; nothing for tables and players. `is_file`: with colours of its own, to stand alone. */
void paper_draw(const paper_part *part, const sheet *table, int is_file, markup *page);
/* Reads the sheets of all items that are made, writes their pictures, and the page. `ran`: what this run used and missed. */
ulna_status paper_write_page(const char *folder, const json_t *ran, const json_t *made, ulna_error *error);

#endif
