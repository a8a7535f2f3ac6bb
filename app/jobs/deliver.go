package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"time"
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

// deliver tells the webhook of a job how it has ended.
func (s *Service) deliver(ctx context.Context, c Claim) error {
	job := c.Job
	told := message{Type: "job." + string(job.State), Timestamp: job.Finished}
	var err error
	if told.Data.Job, err = s.cfg.Render.Job(job); err != nil {
		return err
	}
	body, err := marshal(told)
	if err != nil {
		return err
	}
	err = s.cfg.Webhooks.Send(ctx, job.Request.Webhook, job.ID, body)
	tries := job.Attempts
	switch {
	case err == nil:
		s.metrics.deliveries.Inc(delivered)
		return s.cfg.Store.Delivered(ctx, c)
	case ctx.Err() != nil:
		return err
	case errors.Is(err, ErrWebhookGone), tries > len(pauses):
		s.metrics.deliveries.Inc(deliveryGivenUp)
		s.cfg.Log.Warn("calls of a webhook about an ended job are given up", "job", job.ID, "owner", job.Owner, "tries", tries, "error", err)
		return s.cfg.Store.Delivered(ctx, c)
	}
	s.metrics.deliveries.Inc(deliveryFailed)
	s.cfg.Log.Debug("a call of a webhook about an ended job failed", "job", job.ID, "tries", tries, "error", err)
	return s.cfg.Store.Release(ctx, c, pauses[max(0, tries-1)])
}
