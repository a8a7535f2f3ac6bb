// Package fleet joins gateways and workers through Redis: a gateway has its sentences decoded by
// whichever worker has room, as if the models were its own.
//
//	Engine.Stream ─▶ session ─▶ lanes: a stream for each model and priority ─▶ consumer ─▶ engine
//	                    ▲                                                        │
//	                    └───────────── replies: a stream for each gateway ◀──────┘
//
// A [Gateway] admits requests and works through them as an engine does that has its models here, by
// [engine.Admission] and [engine.Session]. The load is the sum over all gateways (admission.go). A table says
// who owns a sentence and what follows from each event (states.go): the gateway submits it to Redis
// (session.go, outbox.go), hands out its result, submits it again when Redis has lost it (gateway.go, sweep.go),
// and gives it back when all workers of its model have another export now (deserted.go).
//
// A [Worker] (worker.go) has a consumer for each of its models (consumer.go), which reads as many sentences as the
// batch admits, and has each decoded. It sends results before it takes a sentence out of its lane (report.go), so a
// failure between has the sentence decoded twice rather than never; gateways drop second results.
//
// A sentence that a worker has is a claim. The worker renews it (claims.go); others take over a claim that was not
// renewed for a lease (vigil.go, takeover.go). A sentence that two workers did not survive is tried alone, so that it
// shows whether it is to blame; after one more it is a dead letter.
//
// Where there is a secret, all that members tell each other is signed, for the place where it lies
// (seal.go).
//
// All members say again and again that they are there (members.go). Workers publish what they have
// (catalogue.go), and how fast they are, from which gateways tell how long a request would wait.
// Times that members share are Redis's.
//
// # Keys
//
// All begin with the broker's prefix, P. One in braces names what Redis Cluster keeps together.
//
//	P:{fleet}:workers           hash: what each worker says, JSON, by id
//	P:{fleet}:gateways          hash: what each gateway says
//	P:{fleet}:known             JSON: hashes of the catalogues that were used last; see hold.go
//	P:{fleet}:catalogue:HASH    JSON: what a worker has
//	P:{fleet}:file:SHA256       a file of a tokenizer
//	P:{QUEUE}:high|normal|low   streams: sentences of a model, with the consumer group "workers"
//	P:{QUEUE}:dead              stream: dead letters
//	P:{GATEWAY}:replies         stream: results
//
// QUEUE is the beginning of a model's identity: workers whose models have the same one share it.
// Messages are CBOR arrays; see message.go. Members put back what Redis has lost (hold.go). The gateway deletes a sentence whose request
// has ended, wherever it is: a worker that has it sees that when it keeps its claims alive.
package fleet
