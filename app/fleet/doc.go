// Package fleet decodes sentences of gateways on the engines of workers, through Redis.
//
//	Engine.Stream ─▶ session ─▶ lanes: a stream for each model and priority ─▶ consumer ─▶ engine
//	                    ▲                                                        │
//	                    └───────────── replies: a stream for each gateway ◀──────┘
//
// A [Gateway] admits requests by the load of all gateways (admission.go), and decodes them as a local engine does, by
// [engine.Admission] and [engine.Session] (engine.go, session.go). A table says who owns a sentence and what follows from each
// event (states.go). The ledger applies the table (ledger.go), and the gateway does what costs a round trip (outbox.go,
// gateway.go): it submits sentences, again when Redis has lost them, hands out results, and gives sentences back when all workers
// of their model have another export (deserted.go).
//
// A [Worker] (worker.go) has a consumer for each of its models (consumer.go), which reads as many sentences from the lanes
// (lanes.go) as the batch admits, and decodes each (decode.go). The worker sends results before it takes sentences out of their
// lanes (report.go), so after a failure between the two a sentence is decoded twice rather than never. Gateways drop second
// results.
//
// A sentence at a worker is a claim (claims.go), which the worker renews. Other workers take over a claim that was not renewed
// for a lease (vigil.go). After two workers have ended while they had a sentence, the sentence is decoded alone, to find out
// whether it is the reason; after one more worker it becomes a dead letter.
//
// If there is a secret, all messages are signed for their place (seal.go).
//
// All members send heartbeats (members.go). Workers publish their models (catalogue.go), which gateways serve (follow.go), and
// their speed, from which gateways compute how long a request would wait. Times that members share are Redis's.
//
// # Keys
//
// All begin with the broker's prefix, P. Redis Cluster keeps keys with the same word in braces together.
//
//	P:{fleet}:workers           hash: the status of each worker, JSON, by id
//	P:{fleet}:gateways          hash: the status of each gateway
//	P:{fleet}:known             JSON: hashes of the catalogues that gateways used last
//	P:{fleet}:catalogue:HASH    JSON: the models of a worker
//	P:{fleet}:file:SHA256       a file of a tokenizer
//	P:{QUEUE}:high|normal|low   streams: sentences of a model, with the consumer group "workers"
//	P:{QUEUE}:dead              stream: dead letters
//	P:{GATEWAY}:replies         stream: results
//
// QUEUE is the beginning of a model's identity: workers whose models have the same identity share the queue. Messages are CBOR
// arrays; see message.go. Members restore what Redis has lost (follow.go). A gateway deletes a sentence whose request has ended,
// wherever it is: a worker that has the sentence learns of that when it renews its claims.
package fleet
