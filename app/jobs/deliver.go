package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"dragoman/app/fault"
)

// pauses are the pauses between tries to deliver a message to a webhook: those recommended by Standard Webhooks, as far as jobs
// are kept for a day.
var pauses = []time.Duration{
	5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
}

// message is the message to a webhook.
type message struct {
	Type      string    `json:"type"` // job.done, job.failed or job.cancelled
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		Job json.RawMessage `json:"job"`
	} `json:"data"`
}

// checkWebhook returns the failure of a job's webhook, if the job names one.
func checkWebhook(n Notifier, url string) error {
	if url == "" {
		return nil
	}
	if n == nil {
		return fault.New(fault.InvalidValue, "webhook", "this service calls no webhooks, unless JOB_WEBHOOK_SECRET is set: leave it out")
	}
	if err := n.Check(url); err != nil {
		return fault.New(fault.InvalidValue, "webhook", "webhook: %s", err)
	}
	return nil
}

// delivery delivers messages to webhooks.
type delivery struct {
	store    *storage
	webhooks Notifier
	render   Renderer
}

// deliver tells the webhook of a job how it has ended.
func (d delivery) deliver(ctx context.Context, c Claim) error {
	job := c.Job
	told := message{Type: "job." + string(job.State), Timestamp: job.Finished}
	var err error
	if told.Data.Job, err = d.render.Job(job); err != nil {
		return err
	}
	body, err := marshal(told)
	if err != nil {
		return err
	}
	err = d.webhooks.Send(ctx, job.Request.Webhook, job.ID, body)
	tries := job.Attempts
	switch {
	case err == nil:
		d.store.metrics.deliveries.Inc(delivered)
		return d.store.Delivered(ctx, c)
	case ctx.Err() != nil:
		return err
	case errors.Is(err, ErrWebhookGone), tries > len(pauses):
		d.store.metrics.deliveries.Inc(deliveryGivenUp)
		d.store.log.Warn("calls of a webhook about an ended job are given up", "job", job.ID, "owner", job.Owner, "tries", tries, "error", err)
		return d.store.Delivered(ctx, c)
	}
	d.store.metrics.deliveries.Inc(deliveryFailed)
	d.store.log.Debug("a call of a webhook about an ended job failed", "job", job.ID, "tries", tries, "error", err)
	return d.store.Release(ctx, c, pauses[max(0, tries-1)])
}
