package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"dragoman/app/admission"
)

// JobsOff is what JOB_FILE is where there are no jobs.
const JobsOff = "off"

// maxReplicaWait is how long a request for a job may wait for replicas.
const maxReplicaWait = 30 * time.Second

// validateJobs names what of the settings of jobs does not fit.
func (c Config) validateJobs(within func(name string, value, low, high int64)) (errs []error) {
	if c.JobTTL <= 0 {
		errs = append(errs, fmt.Errorf("JOB_TTL=%s: use a time above 0, such as 24h", c.JobTTL))
	}
	within("JOB_REPLICAS", int64(c.JobReplicas), 0, 16)
	if c.JobReplicaWait < time.Millisecond || c.JobReplicaWait > maxReplicaWait {
		errs = append(errs, fmt.Errorf("JOB_REPLICA_WAIT=%s: use 1ms to %s", c.JobReplicaWait, maxReplicaWait))
	}
	if c.JobReplicas > 0 && c.Role != Gateway {
		errs = append(errs, fmt.Errorf("JOB_REPLICAS=%d: only gateways keep jobs in Redis, set ROLE=gateway", c.JobReplicas))
	}
	within("JOB_CONCURRENCY", int64(c.JobConcurrency), 1, 1<<10)
	within("JOB_MAX_RECORDS", int64(c.JobMaxRecords), 1, 1<<24)
	within("JOB_MAX_CHARS", int64(c.JobMaxChars), 1, 1<<30)
	within("DOCUMENT_MAX_TEXTS", int64(c.DocumentMaxTexts), 1, 1<<24)
	within("JOBS_PER_KEY", int64(c.JobsPerKey), 1, 1<<20)
	// What is read and stored of a body, beside the shares of other callers.
	most := c.RequestMemory * 3 / 4 / (admission.BodyByte + 2)
	if c.JobMaxBytes != 0 && (c.JobMaxBytes < 64 || c.JobMaxBytes > most) {
		errs = append(errs, fmt.Errorf("JOB_MAX_BYTES=%d bytes: use 64 bytes to %s, or raise REQUEST_MEMORY", c.JobMaxBytes, humanize.IBytesN(uint64(max(0, most)), 2)))
	}
	// What a document takes while it is read, its texts included.
	if most := c.RequestMemory * 3 / 4 / documentByte; c.DocumentMaxBytes != 0 && (c.DocumentMaxBytes < 64 || c.DocumentMaxBytes > most) {
		errs = append(errs, fmt.Errorf("DOCUMENT_MAX_BYTES=%d bytes: use 64 bytes to %s, or raise REQUEST_MEMORY", c.DocumentMaxBytes, humanize.IBytesN(uint64(max(0, most)), 2)))
	}
	if c.JobStorage < 1<<20 || c.JobStorage > maxSize {
		errs = append(errs, fmt.Errorf("JOB_STORAGE=%d bytes: use 1 MiB to %s", c.JobStorage, humanize.IBytesN(uint64(maxSize), 1)))
	}
	if err := checkWebhookSecret(c.JobWebhookSecret); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// documentByte is what each byte of a document of plain text takes: its body and copies as package body
// and documents count them, and its texts.
const documentByte = admission.BodyByte + 4 + 3

// checkWebhookSecret fails on a secret that Standard Webhooks does not allow. What it is, is not in
// the error.
func checkWebhookSecret(secret string) error {
	if secret == "" {
		return nil
	}
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if key, err := base64.StdEncoding.DecodeString(encoded); !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return errors.New("JOB_WEBHOOK_SECRET: use whsec_ and 24 to 64 random bytes in base64, such as what `echo whsec_$(openssl rand -base64 32)` prints")
	}
	return nil
}
