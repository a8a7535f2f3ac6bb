package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The cache of Hugging Face's libraries has downloads in models--OWNER--NAME/snapshots/COMMIT, with links to ../../blobs, and the
// commits of branches and tags in refs.
const (
	cachePrefix    = "models--"
	cacheSnapshots = "snapshots"
)

// cached returns the snapshot in a folder of the cache: the main branch's, or the only one. For any other folder, cached returns
// the folder itself.
func cached(dir string) (string, error) {
	snapshots := filepath.Join(dir, cacheSnapshots)
	entries, err := os.ReadDir(snapshots)
	if !strings.HasPrefix(filepath.Base(dir), cachePrefix) || err != nil {
		return dir, nil
	}
	if commit, err := os.ReadFile(filepath.Join(dir, "refs", defaultRevision)); err == nil && commitPattern.Match(commit) {
		return filepath.Join(snapshots, string(commit)), nil
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("model %q: there are %d revisions in its folder %s: name the folder of one", dir, len(entries), cacheSnapshots)
	}
	return filepath.Join(snapshots, entries[0].Name()), nil
}

// cacheName returns the repository's name in the path of a snapshot; ok is false for other paths.
func cacheName(snapshot string) (name string, ok bool) {
	above := filepath.Dir(snapshot)
	owned, ok := strings.CutPrefix(filepath.Base(filepath.Dir(above)), cachePrefix)
	_, name, hasOwner := strings.Cut(owned, "--")
	if !hasOwner {
		name = owned
	}
	return name, ok && name != "" && filepath.Base(above) == cacheSnapshots
}
