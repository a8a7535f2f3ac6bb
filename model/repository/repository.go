// Package repository is folders of models on disk: what lies there, and how another
// version gets there.
//
//	DIR/config.yaml               optional: order of choice, pivots, pipelines
//	DIR/NAME/config.yaml          optional: versions to serve, device, aliases, ...
//	DIR/NAME/VERSION/             an exported folder, see [model.Manifest]
//
// A NAME is 1 to 63 letters, digits and . _ -, the first of them a letter or digit. A VERSION
// is a number from 1 to 999999999 without leading zeros. What begins with a dot is ignored: work
// in progress, locks, downloads. A [Scanner] reads all of it, again and again, [Add] adds a
// version. Nothing found in a folder is fatal: one model that is broken does not hide the others.
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

const otherConfigFile = "config.yml" // what some call it

// Snapshot is what some repositories held when [Scan] read them. It is not to be changed, and is
// safe for concurrent use.
type Snapshot struct {
	// Models are sorted by name. Those that cannot be served are among them and say why.
	Models []Model
	// Pipelines are sorted by name, likewise. No pipeline has a model's name or alias.
	Pipelines []Pipeline
	// Order is the names of all models and pipelines as they are tried where a request names
	// none: those first that config.yaml has in its order, then the other models by name, then the
	// other pipelines.
	Order []string
	// Pivots are codes of languages, as written, to translate through where no model has a
	// pair; none turns that off.
	Pivots []string
	// Problems are what was ignored and is not the Err of a model, version or pipeline: of each
	// repository 100 at most, and a last one that says how many more there are.
	Problems []Problem
	// Err says that a repository, or its config.yaml, could not be read, so that what it holds is
	// missing here, or is as a [Scanner] read it before. It is also among the Problems.
	Err error
	// Fingerprint changes with everything above: when folders, versions or configuration files
	// come, go or change, and when what is wrong with them does.
	Fingerprint string
}

// Model is a named model and its versions.
type Model struct {
	Name string
	Dir  string // its folder, which holds those of its versions
	// Config is its config.yaml, the defaults where it has none.
	Config Config
	// Aliases are the aliases of Config that nothing else is called.
	Aliases []string
	// Versions are sorted, the newest last. There may be none.
	Versions []Version
	// Err says why the folder, or all of the repository, cannot be read, or its config.yaml not be
	// used. What a [Scanner] read before stands in for that.
	Err error
}

// Version is an exported folder.
type Version struct {
	Number int
	Dir    string
	// Served says that Config.Versions takes this version, and that Err is nil.
	Served bool
	// Manifest is nil where it cannot be read. It may be that of other snapshots, too.
	Manifest *model.Manifest
	// Bytes is the size of the export's files.
	Bytes int64
	// Identity is the same for versions that translate alike: a hash of the manifest's checksums,
	// sizes, languages, family and precision. Where the model came from has no part in it.
	Identity string
	// Fingerprint changes when the folder is exported again or replaced, or one of its files is
	// written: sizes, times and inodes of its manifest and what that lists.
	Fingerprint string
	// Err says why the version cannot be served. Sizes of files were compared with the manifest,
	// not their checksums: that is for who loads it.
	Err error
}

// Pipeline is a series of models that is called like a model.
type Pipeline struct {
	Name    string
	Version int // 1 or more
	// Steps are 1 to 8, and at most 8 where the steps of pipelines in it are counted too.
	Steps []Step
	// Err says why the pipeline cannot be served, such as a model that is not there.
	Err error

	Origin string `json:"-"` // path and line
}

// Step is a step of a pipeline: detection, which can only be the first, or translation.
type Step struct {
	Detect bool
	// Model is a model or another pipeline, by its name and not an alias.
	Model Ref
	// To is the code, as written, of the language to translate into; "" in the last step is
	// the language that the request asks for.
	To string
}

// Ref names a model or pipeline.
type Ref struct {
	Name    string
	Version int // 0 is the newest that is served
}

// ParseRef reads NAME or NAME:VERSION. Its error quotes no more than the beginning of s.
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

// String is the form that ParseRef reads.
func (r Ref) String() string {
	if r.Version == 0 {
		return r.Name
	}
	return r.Name + ":" + strconv.Itoa(r.Version)
}

// Problem is something that was ignored.
type Problem struct {
	Path string
	Text string // what is wrong and what to do
}

// String is the problem in one line.
func (p Problem) String() string { return p.Path + ": " + p.Text }

const maxVersion = 999_999_999

var (
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	versionPattern = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

// notInNames are runs of characters that a model's name cannot have, and what it cannot begin with.
var notInNames = regexp.MustCompile(`^[^A-Za-z0-9]+|[^A-Za-z0-9._-]+`)

// NameFor makes a model's name of what its source is called; "" where nothing of that can be in a name.
func NameFor(source string) string {
	name := strings.Trim(notInNames.ReplaceAllString(source, "-"), "-")
	if name = name[:min(len(name), 63)]; CheckName(name) != nil {
		return ""
	}
	return name
}

// CheckName says why a model or pipeline cannot be called so.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%.80q is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit", name)
	}
	if name == ConfigFile || name == otherConfigFile {
		return fmt.Errorf("%q is not a model's name: the configuration of a repository is called so", name)
	}
	return nil
}

// parseVersion is the number of a version's folder, 0 where it is none.
func parseVersion(s string) int {
	if !versionPattern.MatchString(s) {
		return 0
	}
	n, _ := strconv.Atoi(s) // nine digits
	return n
}
