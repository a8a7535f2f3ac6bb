// Package client translates by way of a dragoman service.
//
// A [Client] is made once, shared, and closed at the end:
//
//	c, err := client.New(client.Config{URL: "http://localhost:9527"})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	results, err := c.Translate(ctx, client.Request{
//		From: "en", To: "fr", Records: []client.Record{{ID: "1", Text: "Where is the station?"}},
//	})
//
// There are three ways to ask. [Client.Translate] returns all translations of a request.
// [Client.Stream] hands out each as soon as it is there. [Client.Submit] hands long work over
// to the service and returns a [Job], which this process or another, now or tomorrow, asks for
// its state and results:
//
//	job, err := c.Submit(ctx, request, client.SubmitOptions{})
//	...
//	results, err := c.Job(id).Wait(ctx)
//
// [Client.SubmitDocument] does so with a file, and [Job.Document] returns it translated.
//
// # Shapes and units
//
// A request of R records into L languages has R×L results. Languages are the model's
// codes, such as "en" or "zh"; [Client.Languages] lists them. Texts are UTF-8; one that is
// not is an error before anything is sent. How many records and characters a request may
// have is up to the service. It translates what it is sent at once in one batch with what
// others send, so there is little to gain by large requests: a page or a list per request
// is about right, and a job for a book.
//
// # Deadlines
//
// A call may take as long as its context lets it. The service is told how long that still
// is, at every try, and drops what nobody waits for any more. With a deadline a service
// that is overloaded says so at once; without one the call waits as long as the service
// lets it.
//
// # Tries
//
// To translate twice does no harm, so a try that failed in passing is followed by up to
// [Config.Retries] others: where there is no connection or it broke before the whole
// answer was there, and on 429, 502, 503 and a proxy's 504. Pauses are random, up to half
// a second, a second, two, and so on up to [Config.MaxBackoff], on top of what the service
// asks for by Retry-After. No pause goes past the deadline of the context: where the next
// one would, the call fails at once with the last error. All tries of a call have the same
// request id, and those of a Submit the same idempotency key, so that they make one job.
//
// [Job.Wait] and [Job.Events] make as many tries as their context allows: jobs outlive
// restarts of the service, and so does waiting for them.
//
// # Errors
//
// What the service says is an [*Error]; [IsCode] looks for its code:
//
//	if client.IsCode(err, client.CodeUnknownLanguage) { ... }
//
// A call whose context is done fails with the context's error. Answers are checked: one
// that is no JSON, or has other records than the request, is an [ErrInvalidAnswer], never a
// result. Fields that are not known here are left out, so that newer services may have more.
package client
