package access

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

const (
	maxFileBytes = 4 << 20
	maxAccounts  = 10_000
)

// account is a line of the keys file.
type account struct {
	name    string
	digests []digest // at least one
	admin   bool
	limits  Limits
}

// adminWord marks the line of an admin, between its digests and its limits.
const adminWord = "admin"

// namePattern matches valid names, which appear in logs and metrics.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$`)

// readKeysFile reads the whole file.
func readKeysFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFileBytes {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxFileBytes)
	}
	return content, nil
}

// parseAccounts parses a keys file, in the format of the package comment. Limits that a line does not set are the defaults. The
// error has the line number, but no text that could be a misplaced key.
func parseAccounts(content []byte, defaults Limits) ([]account, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	var accounts []account
	names := make(map[string]int) // line numbers
	digests := make(map[digest]int)
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		a, err := parseAccount(fields, defaults)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if first, ok := names[a.name]; ok {
			return nil, fmt.Errorf("line %d: %q has line %d already: put all its keys there", number, a.name, first)
		}
		names[a.name] = number
		for _, d := range a.digests {
			if first, ok := digests[d]; ok {
				return nil, fmt.Errorf("line %d: the digest is in line %d already", number, first)
			}
			digests[d] = number
		}
		accounts = append(accounts, a)
	}
	switch {
	case len(accounts) == 0:
		return nil, errors.New("there are no keys in it: a service that is to be open has no keys file at all")
	case len(accounts) > maxAccounts:
		return nil, fmt.Errorf("it has %d callers, at most %d are possible", len(accounts), maxAccounts)
	}
	return accounts, nil
}

// parseAccount parses the fields of a line.
func parseAccount(fields []string, defaults Limits) (account, error) {
	a := account{name: fields[0], limits: defaults}
	for _, field := range fields {
		if strings.Contains(field, keyPrefix) {
			return a, errors.New("this is a key itself: put its digest here, and withdraw the key if others could read the file")
		}
	}
	if !namePattern.MatchString(a.name) {
		return a, errors.New("a line begins with a name of 1 to 63 letters, digits or . _ @ -")
	}
	rest := fields[1:]
	for len(rest) > 0 && rest[0] != adminWord && !strings.Contains(rest[0], "=") {
		d, err := parseDigest(rest[0])
		if err != nil {
			return a, fmt.Errorf("field %d: %w", len(fields)-len(rest)+1, err)
		}
		a.digests = append(a.digests, d)
		rest = rest[1:]
	}
	if len(a.digests) == 0 {
		return a, fmt.Errorf("there is no digest after the name, such as %s2c26b4…", digestStart)
	}
	if len(rest) > 0 && rest[0] == adminWord {
		a.admin, rest = true, rest[1:]
	}
	return a, a.limits.override(rest)
}
