package boltstore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"time"

	bolt "go.etcd.io/bbolt"

	"dragoman/app/jobs"
)

// The buckets of the file.
var (
	recordBucket = []byte("jobs")    // id: the record in JSON
	inputBucket  = []byte("input")   // id, number: a slice
	resultBucket = []byte("results") // id, number: a chunk
	fileBucket   = []byte("files")   // id, number: a part of the document
	ownerBucket  = []byte("owners")  // owner, 0, time of creation, id: nothing
	keysBucket   = []byte("keys")    // owner, 0, idempotency key: id
	totalBucket  = []byte("total")   // bytesKey: what all jobs have reserved

	// A bucket for each queue. Time when it can be claimed, id: nothing
	queueBuckets = map[jobs.Queue][]byte{jobs.Work: []byte("work"), jobs.Delivery: []byte("delivery")}

	buckets = [][]byte{recordBucket, inputBucket, resultBucket, fileBucket, ownerBucket, keysBucket, totalBucket, queueBuckets[jobs.Work], queueBuckets[jobs.Delivery]}
)

var bytesKey = []byte("bytes")

// timeBytes are as many bytes as a time has in a key.
const timeBytes = 8

// timeKey writes a time so that keys are in its order.
func timeKey(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli()))
}

func partKey(id string, n int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(id), 0), uint32(n))
}

func ownerKey(r *jobs.Record) []byte {
	return append(append(append([]byte(r.Owner), 0), timeKey(r.Created)...), r.ID...)
}

func idempotencyKey(owner, key string) []byte { return append(append([]byte(owner), 0), key...) }

func queueKey(r *jobs.Record) []byte { return append(timeKey(r.Due), r.ID...) }

// load reads a job.
func load(tx *bolt.Tx, id string) (*jobs.Record, error) {
	if id == "" {
		return nil, jobs.ErrUnknown
	}
	raw := tx.Bucket(recordBucket).Get([]byte(id))
	if raw == nil {
		return nil, jobs.ErrUnknown
	}
	return jobs.ParseRecord(raw)
}

// keyed reads the job of an idempotency key.
func keyed(tx *bolt.Tx, owner, key string) (*jobs.Record, error) {
	if key == "" {
		return nil, jobs.ErrUnknown
	}
	return load(tx, string(tx.Bucket(keysBucket).Get(idempotencyKey(owner, key))))
}

// all are all jobs.
func all(tx *bolt.Tx) (records []*jobs.Record, err error) {
	err = tx.Bucket(recordBucket).ForEach(func(_, raw []byte) error {
		r, err := jobs.ParseRecord(raw)
		records = append(records, r)
		return err
	})
	return records, err
}

// insert adds a job.
func insert(tx *bolt.Tx, r *jobs.Record) error {
	if err := tx.Bucket(ownerBucket).Put(ownerKey(r), nil); err != nil {
		return err
	}
	if r.Key != "" {
		if err := tx.Bucket(keysBucket).Put(idempotencyKey(r.Owner, r.Key), []byte(r.ID)); err != nil {
			return err
		}
	}
	if err := reserve(tx, r.Bytes); err != nil {
		return err
	}
	return put(tx, r)
}

// put writes a job and its place in a queue.
func put(tx *bolt.Tx, r *jobs.Record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := tx.Bucket(recordBucket).Put([]byte(r.ID), raw); err != nil {
		return err
	}
	if r.Queue == "" {
		return nil
	}
	return tx.Bucket(queueBuckets[r.Queue]).Put(queueKey(r), nil)
}

// leave takes a job out of its queue.
func leave(tx *bolt.Tx, r *jobs.Record) error {
	if r.Queue == "" {
		return nil
	}
	return tx.Bucket(queueBuckets[r.Queue]).Delete(queueKey(r))
}

// change has a job changed and written, with what it does not need any more removed.
func change(tx *bolt.Tx, r *jobs.Record, alter func() error) error {
	before := *r
	if err := alter(); err != nil {
		return err
	}
	if err := leave(tx, &before); err != nil {
		return err
	}
	if before.HasInput() && !r.HasInput() {
		if err := removeParts(tx, inputBucket, r.ID); err != nil {
			return err
		}
	}
	if before.HasResults() && !r.HasResults() {
		for _, bucket := range [][]byte{resultBucket, fileBucket} {
			if err := removeParts(tx, bucket, r.ID); err != nil {
				return err
			}
		}
	}
	return put(tx, r)
}

// remove forgets a job.
func remove(tx *bolt.Tx, r *jobs.Record) error {
	if err := leave(tx, r); err != nil {
		return err
	}
	for _, bucket := range [][]byte{inputBucket, resultBucket, fileBucket} {
		if err := removeParts(tx, bucket, r.ID); err != nil {
			return err
		}
	}
	if err := tx.Bucket(ownerBucket).Delete(ownerKey(r)); err != nil {
		return err
	}
	if r.Key != "" {
		if err := tx.Bucket(keysBucket).Delete(idempotencyKey(r.Owner, r.Key)); err != nil {
			return err
		}
	}
	if err := reserve(tx, -r.Bytes); err != nil {
		return err
	}
	return tx.Bucket(recordBucket).Delete([]byte(r.ID))
}

// putParts writes the slices of a job, or the parts of its file.
func putParts(tx *bolt.Tx, bucket []byte, id string, parts [][]byte) error {
	for i, part := range parts {
		if err := tx.Bucket(bucket).Put(partKey(id, i), part); err != nil {
			return err
		}
	}
	return nil
}

// removeParts removes the slices, the chunks or the file of a job.
func removeParts(tx *bolt.Tx, bucket []byte, id string) error {
	prefix := append([]byte(id), 0)
	cursor := tx.Bucket(bucket).Cursor()
	for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Seek(prefix) {
		if err := cursor.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// ownedBy are the jobs of an owner, the newest first, at most so many; below 0: all.
func ownedBy(tx *bolt.Tx, owner string, most int, now time.Time) (list []jobs.Job, err error) {
	prefix := append([]byte(owner), 0)
	cursor := tx.Bucket(ownerBucket).Cursor()
	key, _ := cursor.Seek(append([]byte(owner), 1)) // behind the last one
	if key == nil {
		key, _ = cursor.Last()
	} else {
		key, _ = cursor.Prev()
	}
	for ; bytes.HasPrefix(key, prefix) && len(list) != most; key, _ = cursor.Prev() {
		r, err := load(tx, string(key[len(prefix)+timeBytes:]))
		if err != nil {
			return nil, err
		}
		if !r.Expired(now) {
			list = append(list, r.Job)
		}
	}
	return list, nil
}

// reserved is what all jobs have reserved.
func reserved(tx *bolt.Tx) int64 {
	raw := tx.Bucket(totalBucket).Get(bytesKey)
	if raw == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(raw))
}

// reserve changes that.
func reserve(tx *bolt.Tx, bytes int64) error {
	return tx.Bucket(totalBucket).Put(bytesKey, binary.BigEndian.AppendUint64(nil, uint64(reserved(tx)+bytes)))
}
