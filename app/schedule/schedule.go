// Package schedule decides who goes next, and how much: plain data and functions, without goroutines, locks, clocks or I/O. The
// time is an argument.
//
//	clock.go    the order of those who share something, by what each has had
//	account.go  what a caller may hold of something that others want too, also of what comes back with time
//	wait.go     how long a request would wait
//	request.go  what decides the place of a request and a sentence
//	queue.go    the sentences that wait for a worker
//	rounds.go   the time of a worker's rounds; batch.go: the rows and memory of its batch
//	measure.go  what steps take, and what callers and workers have had recently
package schedule
