package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/ctranslate2"
	"dragoman/model/firefox"
)

// remote is a source during one call of the client.
type remote struct {
	*Client
	ctx     context.Context
	ref     Ref
	commit  string              // "" until known; then files are fetched from this commit
	answers map[string]answer   // answers of head, by file
	listed  []string            // paths of the repository's files, after list
	urls    map[string]*url.URL // URLs of the files of an index, which are not in one folder
	header  http.Header         // of the last answer with JSON
}

// answer is the source's version of a file, or the error for a file that it lacks.
type answer struct {
	version
	err error
}

func (c *Client) remote(ctx context.Context, ref Ref) *remote {
	return &remote{Client: c, ctx: ctx, ref: ref, answers: map[string]answer{}}
}

// Has implements [model.Files].
func (r *remote) Has(name string) (bool, error) {
	_, err := r.head(name)
	if r.isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// Read implements [model.Files] for JSON. It keeps nothing.
func (r *remote) Read(name string) (raw []byte, err error) {
	err = r.getJSON(r.fileURL(name), (*json.RawMessage)(&raw))
	return raw, err
}

// fileURL returns the URL of a file, at the commit once that is known, so that a push during a pull does not mix two checkpoints.
func (r *remote) fileURL(name string) *url.URL {
	if where, ok := r.urls[name]; ok {
		return where
	}
	if r.ref.kind == kindURL {
		return r.ref.base.JoinPath(url.PathEscape(name))
	}
	return r.endpoint.JoinPath(r.ref.repo, "resolve", url.PathEscape(r.revision()), r.ref.path, url.PathEscape(name))
}

// revision returns the commit once it is known, before that the ref's revision.
func (r *remote) revision() string { return cmp.Or(r.commit, r.ref.revision) }

// head returns the source's version of a file, and remembers the answer. The Hub's first answer has the commit.
func (r *remote) head(name string) (version, error) {
	if a, ok := r.answers[name]; ok {
		return a.version, a.err
	}
	var v version
	err := r.retry(r.ctx, name, func() (bool, error) {
		resp, err := r.headOrGet(r.ctx, r.fileURL(name))
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if err := r.refusePage(r.ctx, resp); err != nil {
			return false, err
		}
		v = readVersion(resp)
		if commit := hubHeader(resp, headerCommit); r.commit == "" && r.ref.kind == kindRepo && commitPattern.MatchString(commit) {
			r.commit = commit
		}
		return false, nil
	})
	if err == nil || r.isMissing(err) {
		r.answers[name] = answer{v, err}
	}
	return v, err
}

// isMissing reports whether an error means that the source lacks a file. Storage services such as S3 answer 403 if listing is not
// allowed.
func (r *remote) isMissing(err error) bool {
	status, ok := errors.AsType[*statusError](err)
	return errors.Is(err, ErrFileNotFound) || ok && r.ref.kind == kindURL && status.status == http.StatusForbidden
}

// fingerprint returns a string that changes with the weights and configuration at a URL, or with the files of the Firefox model
// there. It returns "" for other refs, and if the server does not tell versions of files apart.
func (r *remote) fingerprint(files model.Files) (string, error) {
	if r.ref.kind != kindURL {
		return "", nil
	}
	names, err := r.identifying(files)
	if err != nil || len(names) == 0 {
		return "", err
	}
	sum := sha256.New()
	for _, name := range names {
		v, err := r.head(name)
		if err != nil || !v.same(v) {
			return "", err
		}
		fmt.Fprintln(sum, name, cmp.Or(strings.TrimPrefix(v.ETag, "W/"), v.Modified))
	}
	return fmt.Sprintf("files-%.6x", sum.Sum(nil)), nil
}

// identifying returns the files that tell models at a URL apart, or none if there is no model.
func (r *remote) identifying(files model.Files) ([]string, error) {
	if r.ref.file == "" {
		weights, err := model.First(files, slices.Concat(model.WeightFiles, []string{ctranslate2.ModelFile}, checkpoint.AdapterFiles)...)
		if err != nil {
			return nil, err
		}
		if weights != "" {
			more, err := model.Present(files, model.ConfigFile, checkpoint.AdapterConfigFile)
			if slices.Contains(more, checkpoint.AdapterConfigFile) {
				adapter, err := adapterWeights(files)
				return append(more, adapter, weights), err
			}
			return append(more, weights), err
		}
	}
	return r.findStudent(files)
}

// list returns the names of the files in the ref's folder of the Hub's repository, and reads the commit. A mirror without lists has
// no files.
func (r *remote) list() (names []string, err error) {
	var listing struct {
		Commit string `json:"sha"`
		Files  []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	from := r.endpoint.JoinPath("api/models", r.ref.repo, "revision", url.PathEscape(r.revision()))
	if err := r.getJSON(from, &listing); r.isMissing(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if r.commit == "" && commitPattern.MatchString(listing.Commit) {
		r.commit = listing.Commit
	}
	for _, file := range listing.Files {
		r.listed = append(r.listed, file.Name)
		if name := path.Base(file.Name); file.Name == path.Join(r.ref.path, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// noModel returns the error for a source without a model, with advice.
func (r *remote) noModel() error {
	advice := "; " + student + " there can be named by its file, such as " + r.ref.String() + "/model.enfr.intgemm.alphas.bin"
	if r.ref.kind == kindRepo {
		var folders []string
		for _, name := range r.listed {
			dir, file := path.Split(name)
			if dir = strings.TrimSuffix(dir, "/"); folderPattern.MatchString(dir) &&
				(file == model.ConfigFile || file == ctranslate2.ModelFile || firefox.IsModel(file)) {
				folders = append(folders, dir)
			}
		}
		slices.Sort(folders)
		folders, advice = slices.Compact(folders), ""
		if len(folders) > 0 {
			advice = fmt.Sprintf("; its folders that may have one are %s: write %s/%s", strings.Join(folders[:min(len(folders), 10)], ", "), r.ref.repo, folders[0])
		}
	}
	err := fmt.Errorf("%w: neither %s nor %s nor %s is there%s", ErrIncomplete, model.ConfigFile, ctranslate2.ModelFile, student, advice)
	if !strings.HasPrefix(advice, "; its folders") {
		err = r.otherForm(err)
	}
	if answer := r.answers[model.ConfigFile].err; answer != nil && r.commit == "" { // the name of the source may be wrong, or access denied
		err = fmt.Errorf("%w: %w", err, answer)
	}
	return err
}

// otherForm adds to the error for a repository without weights what to do about those of another form.
func (r *remote) otherForm(err error) error {
	if r.ref.kind == kindRepo && r.listed == nil {
		if _, listErr := r.list(); listErr != nil {
			return errors.Join(err, listErr)
		}
	}
	return checkpoint.WithOtherForm(err, r.listed)
}

// maxJSON is the maximum size in bytes of fetched JSON. Mozilla's index of some 1,000 files has half a megabyte.
const maxJSON = 32 << 20

// errNoJSON means that an answer is not the expected JSON.
var errNoJSON = errors.New("this is not the JSON that was asked for")

// getJSON fetches a value.
func (r *remote) getJSON(from *url.URL, into any) error {
	return r.retry(r.ctx, redact(from), func() (bool, error) {
		resp, err := r.send(r.ctx, http.MethodGet, from, nil)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		r.header = resp.Header
		raw, err := io.ReadAll(io.LimitReader(body{resp.Body}, maxJSON+1))
		if err != nil {
			return false, err
		}
		if len(raw) > maxJSON || json.Unmarshal(raw, into) != nil {
			return false, fmt.Errorf("%s: %w", redact(from), errNoJSON)
		}
		return false, nil
	})
}
