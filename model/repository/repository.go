// Package repository reads folders of models on disk, and adds versions to them.
//
//	DIR/config.yaml               optional: order of choice, pivots, pipelines
//	DIR/NAME/config.yaml          optional: versions to serve, device, aliases, ...
//	DIR/NAME/VERSION/             an exported folder, see [model.Manifest]
//
// A NAME is 1 to 63 letters, digits and . _ -, starting with a letter or digit. A VERSION is a number from 1 to 999999999 without
// leading zeros. Entries that begin with a dot are ignored: work in progress, locks, downloads. A [Scanner] reads everything
// repeatedly, [Add] adds a version. No content of a folder is fatal: a broken model does not hide the others.
package repository

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"dragoman/model"
)

// ConfigFile is the optional configuration in a repository and in a model's folder.
const ConfigFile = "config.yaml"

const otherConfigFile = "config.yml" // a common other name

// Snapshot is the content of some repositories at the time of a [Scan]. It must not be changed, and is safe for concurrent use.
type Snapshot struct {
	// Models are sorted by name. They include models that cannot be served, with an Err.
	Models []Model
	// Pipelines are sorted by name, and also include broken ones. No pipeline has a model's name or alias.
	Pipelines []Pipeline
	// Order has the names of all models and pipelines in the order in which they are tried for a request that names no model:
	// first the order in config.yaml, then the other models by name, then the other pipelines.
	Order []string
	// Pivots are codes of languages, as written, through which pairs without a model are translated; none disables that.
	Pivots []string
	// Problems are ignored parts that are not the Err of a model, version or pipeline: at most 100 of each repository, and a last
	// problem with the number of further ones.
	Problems []Problem
	// Err means that a repository, or its config.yaml, could not be read, so that its content is missing here, or is the content
	// that a [Scanner] read before. The error is also among the Problems.
	Err error
	// Fingerprint changes with all fields above: when folders, versions or configuration files are added, removed or changed, and
	// when their errors change.
	Fingerprint string
}

// Model is a named model and its versions.
type Model struct {
	Name string
	Dir  string // the model's folder, which has the folders of its versions
	// Config is the model's config.yaml, or the defaults if there is none.
	Config Config
	// Aliases are the aliases of Config that no other model or pipeline has.
	Aliases []string
	// Versions are sorted, the newest last. There may be none.
	Versions []Version
	// Err is the reason why the folder, or the whole repository, cannot be read, or why the model's config.yaml is invalid. The
	// snapshot then has the content that a [Scanner] read before.
	Err error
}

// Version is an exported folder.
type Version struct {
	Number int
	Dir    string
	// Served reports whether Config.Versions selects this version, and Err is nil.
	Served bool
	// Manifest is nil if it cannot be read. Other snapshots may share it.
	Manifest *model.Manifest
	// Bytes is the size of the export's files.
	Bytes int64
	// Identity is equal for versions that translate alike: a hash of the manifest's checksums, sizes, languages, family and
	// precision. The hash does not include the origin of the model.
	Identity string
	// Fingerprint changes when the folder is exported again or replaced, or one of its files is written: the fingerprint has
	// sizes, times and inodes of the manifest and the listed files.
	Fingerprint string
	// Err is the reason why the version cannot be served. Sizes of files were compared with the manifest; checksums are compared
	// when the model is loaded.
	Err error
}

// Pipeline is a sequence of models, used under a name like a model.
type Pipeline struct {
	Name    string
	Version int    // 1 or more
	Steps   []Step // 1 to 8
	// Err is the reason why the pipeline cannot be served, for example a missing model.
	Err error

	Origin string `json:"-"` // path and line
}

// Step is a step of a pipeline: detection, which must be the first, or translation.
type Step struct {
	Detect bool
	// Model is the name, not an alias, of a model.
	Model Ref
	// To is the code, as written, of the target language; "" in the last step means the language requested.
	To string
}

// Ref refers to a model or pipeline.
type Ref struct {
	Name    string
	Version int // 0 is the newest served one
}

// ParseRef parses NAME or NAME:VERSION. Its error quotes only the beginning of s.
func ParseRef(s string) (Ref, error) {
	name, number, versioned := strings.Cut(s, ":")
	if err := CheckName(name); err != nil {
		return Ref{}, err
	}
	r := Ref{Name: name}
	if versioned {
		if r.Version = parseVersion(number); r.Version == 0 {
			return Ref{}, fmt.Errorf("%.80q: a version is a number from 1 to %d", s, maxVersion)
		}
	}
	return r, nil
}

// String returns the form that ParseRef parses.
func (r Ref) String() string {
	if r.Version == 0 {
		return r.Name
	}
	return r.Name + ":" + strconv.Itoa(r.Version)
}

// Problem is an ignored part of a repository.
type Problem struct {
	Path string
	Text string // the fault and its remedy
}

// String returns the problem in one line.
func (p Problem) String() string { return p.Path + ": " + p.Text }

const maxVersion = 999_999_999

var (
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	versionPattern = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

// notInNames matches runs of characters that a model's name cannot contain, or cannot begin with.
var notInNames = regexp.MustCompile(`^[^A-Za-z0-9]+|[^A-Za-z0-9._-]+`)

// NameFor returns a model's name derived from the name of its source, or "" if no character of source is allowed.
func NameFor(source string) string {
	name := strings.Trim(notInNames.ReplaceAllString(source, "-"), "-")
	if name = name[:min(len(name), 63)]; CheckName(name) != nil {
		return ""
	}
	return name
}

// CheckName returns an error for an invalid name of a model or pipeline.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%.80q is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit", name)
	}
	if name == ConfigFile || name == otherConfigFile {
		return fmt.Errorf("%q is not a model's name: the configuration of a repository is called so", name)
	}
	return nil
}

// parseVersion returns the number of a version's folder, or 0 for other names.
func parseVersion(s string) int {
	if !versionPattern.MatchString(s) {
		return 0
	}
	n, _ := strconv.Atoi(s) // at most nine digits
	return n
}
