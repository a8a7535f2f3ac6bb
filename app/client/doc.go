// Package client translates with a dragoman service.
//
// A [Client] is created once, shared, and closed at the end:
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
// There are three ways to translate. [Client.Translate] returns all translations of a request. [Client.Stream] yields each one as
// soon as it arrives. [Client.Submit] submits long work to the service and returns a [Job], whose state and results this process
// or another can fetch, now or tomorrow:
//
//	job, err := c.Submit(ctx, request, client.SubmitOptions{})
//	...
//	results, err := c.Job(id).Wait(ctx)
//
// [Client.SubmitDocument] submits a file, and [Job.Document] returns its translation.
//
// # Shapes and units
//
// A request of R records into L languages has R×L results. Languages are the model's codes, such as "en" or "zh";
// [Client.Languages] lists them. Texts are UTF-8; invalid UTF-8 is an error before the request is sent. The service limits the
// number of records and characters of a request. It translates texts of concurrent requests in one batch, so large requests gain
// little: a page or a list per request is about right, and a job for a book.
//
// # Deadlines
//
// A call may take as long as its context allows. At every try the client tells the service the rest of that time, and the service
// drops work that no client waits for. With a deadline, an overloaded service refuses at once; without one the call waits as long
// as the service allows.
//
// # Tries
//
// Translating twice does no harm, so a try with a temporary error is followed by up to [Config.Retries] others. Temporary errors
// are: no connection, a connection that broke before the whole answer had arrived, 429, 502, 503 and a proxy's 504. Pauses are
// random, up to half a second, a second, two, and so on up to [Config.MaxBackoff], on top of the Retry-After of the service. No
// pause exceeds the deadline of the context: instead, the call fails at once with the last error. All tries of a call have the
// same request id, and the tries of a Submit the same idempotency key, so that they create one job.
//
// [Job.Wait] and [Job.Events] make as many tries as their context allows: jobs, and calls that wait for them, survive restarts of
// the service.
//
// # Errors
//
// An error answer of the service is an [*Error]; [IsCode] checks its code:
//
//	if client.IsCode(err, client.CodeUnknownLanguage) { ... }
//
// A record that alone has no translation has its error in [Result.Err].
//
// A call whose context is done fails with the context's error. Answers are validated: an answer that is not JSON, or has other
// records than the request, is an [ErrInvalidAnswer], never a result. Unknown fields are ignored, so that newer services may have
// more fields.
package client
