package source

import (
	"context"
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
	"dragoman/model/ctranslate2"
	"dragoman/model/firefox"
)

// list asks the Hub for the files of the repository, of which it returns the names of those in the folder of the ref; it also
// tells the commit. A mirror that has no such lists has no files.
func (p *pull) list(ctx context.Context) (names []string, err error) {
	var listing struct {
		Commit string `json:"sha"`
		Files  []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	from := p.endpoint.JoinPath("api/models", p.ref.repo, "revision", url.PathEscape(p.revision()))
	if err := p.getJSON(ctx, from, &listing); p.isMissing(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if p.commit == "" && commitPattern.MatchString(listing.Commit) {
		p.commit = listing.Commit
	}
	for _, file := range listing.Files {
		p.listed = append(p.listed, file.Name)
		if name := path.Base(file.Name); file.Name == path.Join(p.ref.path, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// noModel says that there is no model, and what to do.
func (p *pull) noModel() error {
	advice := "; " + student + " there can be named by its file, such as " + p.ref.String() + "/model.enfr.intgemm.alphas.bin"
	if p.ref.kind == kindRepo {
		var folders []string
		for _, name := range p.listed {
			dir, file := path.Split(name)
			if dir = strings.TrimSuffix(dir, "/"); folderPattern.MatchString(dir) &&
				(file == model.ConfigFile || file == ctranslate2.ModelFile || firefox.IsModel(file)) {
				folders = append(folders, dir)
			}
		}
		slices.Sort(folders)
		folders, advice = slices.Compact(folders), ""
		if len(folders) > 0 {
			advice = fmt.Sprintf("; its folders that may have one are %s: write %s/%s", strings.Join(folders[:min(len(folders), 10)], ", "), p.ref.repo, folders[0])
		}
	}
	err := fmt.Errorf("%w: neither %s nor %s nor %s is there%s",
		ErrIncomplete, model.ConfigFile, ctranslate2.ModelFile, student, advice)
	if answer := p.answers[model.ConfigFile].err; answer != nil && p.commit == "" { // the source may be wrong, or its access
		err = fmt.Errorf("%w: %w", err, answer)
	}
	return err
}

// maxJSON bounds what is fetched as JSON, such as a list. Mozilla's index of some 1,000 files has half a megabyte.
const maxJSON = 32 << 20

// errNoJSON: what came is not what was asked for.
var errNoJSON = errors.New("this is not the JSON that was asked for")

// getJSON fetches a value, of which nothing is kept.
func (p *pull) getJSON(ctx context.Context, from *url.URL, into any) error {
	return p.retry(ctx, redact(from), func() (bool, error) {
		resp, err := p.send(ctx, http.MethodGet, from, nil)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
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
