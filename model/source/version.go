package source

import (
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"

	"dragoman/model"
)

// Prefixes of version.Sum.
const (
	sumSHA256 = "sha256:"
	sumGit    = "git:" // SHA-1 of "blob", the length, a zero byte and the content
)

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// version identifies the content of a remote file.
type version struct {
	Size     int64  `json:"size"`               // bytes; -1: unknown
	ETag     string `json:"etag,omitempty"`     // as sent
	Modified string `json:"modified,omitempty"` // Last-Modified, as sent
	Sum      string `json:"sum,omitempty"`      // sumSHA256 or sumGit and hex digits; "": unknown
}

// readVersion returns the version in an answer to HEAD. The Hub's ETag is the SHA-256 of a file in large file storage, and the git blob
// id of a small one; the ETags of other servers are opaque.
func readVersion(resp *http.Response) version {
	v := version{Size: -1, ETag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified")}
	if size, err := strconv.ParseInt(hubHeader(resp, headerLinkedSize), 10, 64); err == nil && size >= 0 {
		v.Size = size
	} else if resp.StatusCode == http.StatusOK && resp.ContentLength > 0 { // some servers answer 0 to HEAD
		v.Size = resp.ContentLength
	}
	linked := hubHeader(resp, headerLinkedETag)
	if linked != "" {
		v.ETag = linked
	}
	sum := strings.Trim(strings.TrimPrefix(v.ETag, "W/"), `"`)
	fromHub := linked != "" || hubHeader(resp, headerCommit) != ""
	switch {
	case fromHub && sha256Pattern.MatchString(sum):
		v.Sum = sumSHA256 + sum
	case fromHub && linked == "" && commitPattern.MatchString(sum):
		v.Sum = sumGit + sum
	}
	return v
}

// same reports whether two versions are known to have the same content. Versions without checksum, ETag and date are never known
// to be the same.
func (v version) same(w version) bool {
	switch {
	case v.Sum != "" || w.Sum != "":
		return v.Sum == w.Sum
	case v.ETag != "" || w.ETag != "":
		return sameETag(v.ETag, w.ETag)
	}
	return v.Modified != "" && v.Modified == w.Modified && v.Size == w.Size
}

// sameETag compares weakly, because some servers with compression send a tag as weak in some answers and as strong in others.
func sameETag(a, b string) bool { return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/") }

// validator returns the value for If-Range: a strong ETag, or the date. A weak ETag does not guarantee the same bytes.
func (v version) validator() string {
	if v.ETag != "" && !strings.HasPrefix(v.ETag, "W/") {
		return v.ETag
	}
	return v.Modified
}

// resumable reports whether parts of the file can be matched: the checksum at the end detects a mismatch, or the server does by
// If-Range.
func (v version) resumable() bool { return v.Sum != "" || v.validator() != "" }

// verify compares the file at path with the size and checksum of the version. It fails with ErrChecksum.
func (v version) verify(ctx context.Context, path string) (fileState, error) {
	file, err := model.HashFile(ctx, path)
	if err != nil {
		return fileState{}, err
	}
	if v.Size >= 0 && file.Size != v.Size {
		return fileState{}, fmt.Errorf("%w: got %d bytes, expected %d", ErrChecksum, file.Size, v.Size)
	}
	got := sumSHA256 + file.SHA256
	if strings.HasPrefix(v.Sum, sumGit) {
		if got, err = gitSum(path, file.Size); err != nil {
			return fileState{}, err
		}
	}
	if v.Sum != "" && got != v.Sum {
		return fileState{}, fmt.Errorf("%w: got %s, expected %s", ErrChecksum, got, v.Sum)
	}
	v.Size = file.Size
	return fileState{version: v, SHA256: file.SHA256}, nil
}

// gitSum returns git's id of a file's content. Only small files have such an id, so reading the file twice costs little.
func gitSum(path string, size int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	_, err = io.Copy(h, f)
	return fmt.Sprintf(sumGit+"%x", h.Sum(nil)), err
}
