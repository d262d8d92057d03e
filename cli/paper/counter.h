/* counter.h: instructions that this thread executes, where Linux counts them. */
#ifndef ULNA_CLI_PAPER_COUNTER_H
#define ULNA_CLI_PAPER_COUNTER_H

typedef struct counter {
    int file; /* -1: there is none: another system, a virtual machine, or it is forbidden */
} counter;

void counter_open(counter *c);
int counter_is_open(const counter *c);
void counter_begin(counter *c);
double counter_end(counter *c); /* since counter_begin; NaN if they are not counted */
void counter_close(counter *c);

#endif
