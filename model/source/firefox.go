package source

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dragoman/model"
	"dragoman/model/firefox"
)

// Firefox's own sources of models. The index has a record for each file, in the format of Remote Settings.
const (
	firefoxIndex = "https://firefox.settings.services.mozilla.com/v1/buckets/main/collections/translations-models-v2/records"
	firefoxFiles = "https://firefox-settings-attachments.cdn.mozilla.net/"
)

const (
	// pairPrefix is the prefix of a ref, firefox:en-de, and pairName of a model's name, firefox-en-de.
	pairPrefix, pairName = "firefox:", "firefox-"
	// student is a model of Firefox in messages.
	student     = "a model of Firefox's"
	adviceIndex = "check FIREFOX_MODELS, which names the index of the models; files are beside it"
)

var firefoxPair = regexp.MustCompile(`^[A-Za-z]{2,3}([_-][A-Za-z0-9]+)*-[A-Za-z]{2,3}([_-][A-Za-z0-9]+)*$`)

func parsePair(s, revision string) (Ref, error) {
	pair := strings.TrimPrefix(s, pairPrefix)
	if !firefoxPair.MatchString(pair) {
		return Ref{}, fmt.Errorf("model %q: name a pair of languages, such as %sen-de", s, pairPrefix)
	}
	if revision != "" {
		return Ref{}, fmt.Errorf("model %q has no revision %q: the newest version is fetched; leave the revision out", s, revision)
	}
	return Ref{kind: kindPair, repo: pair}, nil
}

// firefoxRecord is a file of a model. Older indexes have From and To instead of Source and Target.
type firefoxRecord struct {
	Name         string `json:"name"`
	Type         string `json:"fileType"`
	Source       string `json:"sourceLanguage"`
	Target       string `json:"targetLanguage"`
	From         string `json:"fromLang"`
	To           string `json:"toLang"`
	Version      string `json:"version"`
	Architecture string `json:"architecture"`
	Filter       string `json:"filter_expression"` // the versions of Firefox that use the file
	Attachment   struct {
		Location string `json:"location"`
		Filename string `json:"filename"`
		Hash     string `json:"hash"` // SHA-256
		Size     int64  `json:"size"`
	} `json:"attachment"`
}

func (r firefoxRecord) pair() string {
	return strings.ToLower(cmp.Or(r.Source, r.From) + "-" + cmp.Or(r.Target, r.To))
}

// released reports whether a record is for Firefox's releases on desktops. Other records are experiments, or small models for phones.
func (r firefoxRecord) released() bool {
	// Filters are JEXL. Mozilla's filters are also Go expressions, except for the quotes.
	filter, err := parser.ParseExpr(strings.ReplaceAll(r.Filter, "'", "`"))
	return strings.TrimSpace(r.Filter) == "" || err == nil && holds(filter) == "true"
}

// holds returns the value of a filter in a release of Firefox on a desktop: "true", "false", a name or a text, or "" if it is unknown.
func holds(filter ast.Expr) string {
	switch e := filter.(type) {
	case *ast.ParenExpr:
		return holds(e.X)
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.SelectorExpr:
		return map[string]string{"channel": "release", "OS": "Linux"}[e.Sel.Name]
	case *ast.BinaryExpr:
		x, y := holds(e.X), holds(e.Y)
		if x == "" || y == "" {
			return ""
		}
		is, ok := map[token.Token]bool{token.EQL: x == y, token.NEQ: x != y, token.LAND: x == "true" && y == "true", token.LOR: x == "true" || y == "true"}[e.Op]
		if ok {
			return strconv.FormatBool(is)
		}
	}
	return ""
}

// versionKey returns the sort key of a version: 1.0a1 is before 1.0, and an invalid version before all.
func versionKey(v string) (key []int) {
	number, alpha, isAlpha := strings.Cut(v, "a")
	for part := range strings.SplitSeq(number, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			n = -1
		}
		key = append(key, n)
	}
	if isAlpha {
		n, _ := strconv.Atoi(alpha)
		return append(key, -2, n)
	}
	return append(key, 0)
}

// chooseIndexed returns the files of the newest model for a pair, and sets their URLs. The model's version becomes the commit.
func (r *remote) chooseIndexed() (names []string, err error) {
	index, base, err := r.indexes()
	if err != nil {
		return nil, err
	}
	records, err := r.firefoxRecords(index)
	if err != nil {
		return nil, err
	}
	chosen, err := newest(records, r.ref.repo)
	if err != nil {
		return nil, err
	}
	r.urls, r.commit = map[string]*url.URL{}, chosen[0].Version
	for _, record := range chosen {
		name := record.Name
		if ext := path.Ext(record.Attachment.Filename); ext == ".zst" || ext == ".gz" {
			name = strings.TrimSuffix(name, ext) + ext
		}
		a := record.Attachment
		where, err := base.Parse(a.Location)
		if err != nil || a.Location == "" || !plainFile.MatchString(name) || !sha256Pattern.MatchString(a.Hash) || a.Size < 1 || a.Size > firefox.MaxFile {
			return nil, fmt.Errorf("the index's record of %.100q has no place, no SHA-256 or no size that a file may have", record.Name)
		}
		r.urls[name] = where
		r.answers[name] = answer{version: version{Size: a.Size, Sum: sumSHA256 + a.Hash}}
		names = append(names, name)
	}
	if len(r.urls) < len(names) {
		return nil, fmt.Errorf("the index has two files of one name for %s: %q", r.ref, names)
	}
	return names, nil
}

// indexes returns the URL of the index of Firefox's models, and the URL to which the places of files are relative.
func (r *remote) indexes() (index, files *url.URL, err error) {
	index, err = url.Parse(cmp.Or(r.cfg.Index, firefoxIndex))
	if err != nil || index.Host == "" || index.Scheme != "http" && index.Scheme != "https" {
		return nil, nil, fmt.Errorf("FIREFOX_MODELS %q is not a URL of an index", r.cfg.Index)
	}
	if r.cfg.Index != "" {
		return index, index, nil // the index is a mirror's, and the files are beside it
	}
	files, err = url.Parse(firefoxFiles)
	return index, files, err
}

var plainFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// firefoxRecords fetches the index.
func (r *remote) firefoxRecords(index *url.URL) ([]firefoxRecord, error) {
	var list struct {
		Data []firefoxRecord `json:"data"`
	}
	err := r.getJSON(index, &list)
	if err == nil && len(list.Data) == 0 {
		err = errNoJSON
	}
	if errors.Is(err, errNoJSON) {
		return nil, fmt.Errorf("%s is no index of Firefox's models: check FIREFOX_MODELS", redact(index))
	}
	return list.Data, err
}

// newest returns the records of the newest model of a pair, the model itself first. It prefers released models, and among models of
// one version the largest.
func newest(records []firefoxRecord, pair string) ([]firefoxRecord, error) {
	var model *firefoxRecord
	pairs := map[string]bool{}
	for i, r := range records {
		if r.Type == "model" {
			pairs[r.pair()] = true
		}
		if r.Type != "model" || r.pair() != strings.ToLower(pair) {
			continue
		}
		if model == nil || r.released() && !model.released() || r.released() == model.released() &&
			cmp.Or(slices.Compare(versionKey(r.Version), versionKey(model.Version)), cmp.Compare(r.Attachment.Size, model.Attachment.Size)) > 0 {
			model = &records[i]
		}
	}
	if model == nil {
		source, _, _ := strings.Cut(strings.ToLower(pair), "-")
		like := slices.DeleteFunc(slices.Sorted(maps.Keys(pairs)), func(p string) bool { return !strings.HasPrefix(p, source+"-") })
		if len(like) == 0 {
			like = slices.Sorted(maps.Keys(pairs))
		}
		return nil, fmt.Errorf("%w: the index has no model %s; it has %s", ErrFileNotFound, pair, strings.Join(like, ", "))
	}
	byType := map[string]firefoxRecord{}
	for _, r := range records {
		if r.pair() != model.pair() || r.Version != model.Version || r.Architecture != "" && r.Architecture != model.Architecture ||
			r.Filter != model.Filter && !r.released() || !slices.Contains([]string{"vocab", "srcvocab", "trgvocab", "lex"}, r.Type) {
			continue
		}
		if other, ok := byType[r.Type]; !ok || r.Attachment.Size > other.Attachment.Size {
			byType[r.Type] = r
		}
	}
	_, one := byType["vocab"]
	_, source := byType["srcvocab"]
	_, target := byType["trgvocab"]
	if !one && !(source && target) {
		return nil, fmt.Errorf("the index has a model %s of version %s without a vocabulary", pair, model.Version)
	}
	chosen := []firefoxRecord{*model}
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		chosen = append(chosen, byType[kind])
	}
	return chosen, nil
}

// findStudent returns the files of the model in a folder of a repository or under a URL, or none if there is no model.
func (r *remote) findStudent(files model.Files) (names []string, err error) {
	file := r.ref.file
	switch {
	case file != "":
		_, err = r.head(file)
	case r.ref.kind == kindRepo:
		names, err = r.list()
	default:
		file, err = firefoxAt(files)
	}
	if err == nil && file != "" {
		names, err = model.Present(files, append(firefox.Beside(file), file)...)
	}
	if err != nil || !slices.ContainsFunc(names, firefox.IsModel) {
		return nil, err
	}
	found, err := firefox.Find(names, file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	chosen := slices.Sorted(maps.Values(found))
	if slices.Contains(names, firefox.MetadataFile) {
		chosen = append(chosen, firefox.MetadataFile)
	}
	return chosen, nil
}

// firefoxAt returns the name of the model under a URL, which cannot be listed, by the languages in metadata.json; "" if there is none.
func firefoxAt(files model.Files) (string, error) {
	source, target, err := firefox.Languages(files, "")
	if err != nil || source == "" {
		return "", err
	}
	models := slices.DeleteFunc(firefox.Models(source, target), func(name string) bool { return !firefox.IsModel(name) })
	return model.First(files, models...)
}
