// Runs in pieces: a thread that computes, and rests where it is told to.
#ifndef DRAGOMAN_PIECES_H
#define DRAGOMAN_PIECES_H

#include <stdint.h>

typedef struct Pieces Pieces;

// pieces_new makes a run that rests; 0 where there is no memory.
Pieces *pieces_new(void);
// pieces_begin makes the calling thread that of the run, and returns when it may go on.
void pieces_begin(Pieces *p);
// pieces_end says that the calling thread's run has ended.
void pieces_end(Pieces *p);
// pieces_continue has the run go on for so many nanoseconds, or a little more. It says whether
// it has ended.
int pieces_continue(Pieces *p, int64_t nanoseconds);
// pieces_stop has the run fail where it rests, and returns when it has ended.
void pieces_stop(Pieces *p);
void pieces_free(Pieces *p);

// pieces_divided says whether the calling thread's run is one that rests.
int pieces_divided(void);
// pieces_rest lets the calling thread rest where its time is over. It says whether the run is to
// go on.
int pieces_rest(void);

#endif
