package hub

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// How version.Sum names the checksum's sort.
const (
	sumSHA256 = "sha256:"
	sumGit    = "git:" // SHA-1 of "blob", the length, a zero byte and the content
)

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// version tells one content of a remote file from another.
type version struct {
	Size     int64  `json:"size"`               // bytes; -1 where the server does not say
	ETag     string `json:"etag,omitempty"`     // as sent
	Modified string `json:"modified,omitempty"` // Last-Modified, as sent
	Sum      string `json:"sum,omitempty"`      // sumSHA256 or sumGit and hex digits; "" where there is no checksum
}

// same reports whether two versions are known to have the same content. Without
// checksum, ETag and date nothing is known, and no version is the same as another.
func (v version) same(w version) bool {
	switch {
	case v.Sum != "" || w.Sum != "":
		return v.Sum == w.Sum
	case v.ETag != "" || w.ETag != "":
		return v.ETag == w.ETag
	}
	return v.Modified != "" && v.Modified == w.Modified && v.Size == w.Size
}

// sized is the version with the size that the file turned out to have.
func (v version) sized(n int64) version {
	v.Size = n
	return v
}

// validator is what If-Range may carry: a strong ETag or else the date. A weak
// ETag does not promise the same bytes.
func (v version) validator() string {
	if v.ETag != "" && !strings.HasPrefix(v.ETag, "W/") {
		return v.ETag
	}
	return v.Modified
}

// resumable reports whether a later part of the file can be told to belong to
// an earlier one: by the checksum afterwards or by the server through If-Range.
func (v version) resumable() bool { return v.Sum != "" || v.validator() != "" }

// verify compares the file at path, whose SHA-256 is already known, with the
// checksum of the version. It returns ErrChecksum with both sums on a difference.
func verify(path, sha string, v version) error {
	got := sumSHA256 + sha
	if strings.HasPrefix(v.Sum, sumGit) {
		sum, err := gitBlobSum(path)
		if err != nil {
			return err
		}
		got = sumGit + sum
	}
	if v.Sum != "" && got != v.Sum {
		return fmt.Errorf("%w: got %s, expected %s", ErrChecksum, got, v.Sum)
	}
	return nil
}

// gitBlobSum is git's id of a file's content. Only small files of a repository
// carry it, so it is worth a second reading.
func gitBlobSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", info.Size())
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
