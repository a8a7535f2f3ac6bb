// Runs in pieces: a thread that computes, and pauses on request.
#ifndef DRAGOMAN_PIECES_H
#define DRAGOMAN_PIECES_H

#include <stdint.h>

typedef struct Pieces Pieces;

// pieces_new creates a run that can pause; 0 if there is no memory.
Pieces *pieces_new(void);
// pieces_begin assigns the calling thread to the run, and returns when it may continue.
void pieces_begin(Pieces *p);
// pieces_end ends the calling thread's run.
void pieces_end(Pieces *p);
// pieces_continue continues the run for about nanoseconds, or a little more. It returns whether the run has ended.
int pieces_continue(Pieces *p, int64_t nanoseconds);
// pieces_stop makes the run fail at its pause, and returns when it has ended.
void pieces_stop(Pieces *p);
void pieces_free(Pieces *p);

// pieces_divided returns whether the calling thread's run is divided into pieces.
int pieces_divided(void);
// pieces_rest pauses the calling thread if its time is over. It returns whether the run is to continue.
int pieces_rest(void);

#endif
