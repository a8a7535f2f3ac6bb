package weights

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dragoman/model"
	"dragoman/model/bundled"
	"dragoman/model/checkpoint"
	"dragoman/model/ctranslate2"
	"dragoman/model/export"
	"dragoman/model/family"
	"dragoman/model/source"
)

// origin is where a model comes from.
type origin struct {
	name   string // for the manifest and logs
	called string // the model, which may tell its languages
	// version is known beforehand for the bundled checkpoint and for folders: another
	// version is exported again. It is "" for what is fetched.
	version   string
	exported  string   // the folder itself, if it is an export
	languages []string // that the model knows; nil: all that its tokenizer knows
	// fetch makes the checkpoint's files available, in the folder work or, to keep them
	// for later, elsewhere in out.
	fetch func(ctx context.Context, out, work string) (dir, version string, err error)
	// commit asks which version would be fetched; "" where that cannot be told. It may be nil.
	commit func(context.Context) (string, error)
}

// slug is a folder name for the source.
func (s origin) slug() string {
	short := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, filepath.Base(s.name))
	return fmt.Sprintf("%s-%.4x", strings.TrimLeft(short, ".-"), sha256.Sum256([]byte(s.name)))
}

// origin says what MODEL_WEIGHTS names.
func (p *Preparer) origin() (origin, error) {
	if p.cfg.Weights == "" {
		return bundledSource(), nil
	}
	ref, err := source.ParseRef(p.cfg.Weights, p.cfg.Revision)
	if err != nil {
		return origin{}, err
	}
	s, err := p.sourceOf(ref)
	s.called = ref.Name()
	return s, err
}

func (p *Preparer) sourceOf(ref source.Ref) (origin, error) {
	if ref.IsFolder() && strings.HasSuffix(ref.String(), ctranslate2.PackageExt) {
		return packageSource(ref.String())
	}
	if ref.IsFolder() {
		return folderSource(ref.String())
	}
	name := ref.String()
	if ref.Revision() != "" {
		name += "@" + ref.Revision()
	}
	return origin{
		name: name,
		fetch: func(ctx context.Context, out, _ string) (dir, version string, err error) {
			result, err := p.cfg.Hub.Pull(ctx, ref, p.download(out))
			return result.Dir, result.Revision, err
		},
		commit: func(ctx context.Context) (string, error) { return p.cfg.Hub.Commit(ctx, ref) },
	}, nil
}

// Where checkpoints are downloaded to, in the exported folder or Config.Downloads. An export that fails
// leaves them there for the next one.
const (
	keptFolder     = ".checkpoint"        // with KeepCheckpoint
	downloadFolder = ".dragoman-download" // goes away after the export
)

// download is where to download a checkpoint to. What was kept once is used again.
func (p *Preparer) download(out string) string {
	out = cmp.Or(p.cfg.Downloads, out)
	kept := filepath.Join(out, keptFolder)
	if _, err := os.Stat(kept); p.cfg.KeepCheckpoint || err == nil {
		return kept
	}
	return filepath.Join(out, downloadFolder)
}

func bundledSource() origin {
	return origin{
		name: bundled.Source, version: bundled.Version, languages: bundled.Languages(),
		fetch: func(_ context.Context, _, work string) (string, string, error) {
			return work, bundled.Version, bundled.WriteTo(work)
		},
	}
}

// folderSource is a folder with an export, which is served as it is, with a
// checkpoint, or with an Argos package that is installed.
func folderSource(dir string) (origin, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return origin{}, err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return origin{}, fmt.Errorf("MODEL_WEIGHTS: %s is a file: name the folder of a model, of an archive the one that it is unpacked to, or an Argos package (%s)",
			dir, ctranslate2.PackageExt)
	}
	if _, err := os.Stat(filepath.Join(dir, model.ManifestFile)); err == nil {
		return origin{exported: dir}, nil
	}
	folders, installed := []string{dir}, ctranslate2.IsInstalled(dir)
	if installed {
		folders = append(folders, filepath.Join(dir, "model"))
	}
	version, err := fingerprint(folders...)
	if err != nil {
		return origin{}, fmt.Errorf("MODEL_WEIGHTS: %w", err)
	}
	return origin{
		name: dir, version: version,
		fetch: func(_ context.Context, _, work string) (string, string, error) {
			if installed {
				return work, version, ctranslate2.CopyInstalled(dir, work)
			}
			return dir, version, nil
		},
	}, nil
}

// packageSource is an Argos package, which is unpacked to be exported.
func packageSource(file string) (origin, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return origin{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return origin{}, fmt.Errorf("MODEL_WEIGHTS: %w", err)
	}
	if info.IsDir() { // one that was unpacked by hand, or has an odd name
		return folderSource(file)
	}
	version := hashFiles(info)
	return origin{
		name: file, version: version,
		fetch: func(_ context.Context, _, work string) (string, string, error) {
			return work, version, withPointers(ctranslate2.Unpack(file, work), file)
		},
	}, nil
}

// hashFiles tells files by their names, sizes and times of change.
func hashFiles(files ...fs.FileInfo) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s %d %d\n", f.Name(), f.Size(), f.ModTime().UnixNano())
	}
	return fmt.Sprintf("files-%.6x", h.Sum(nil))
}

// fingerprint changes when a file of the folders does: a hash of their names,
// sizes and times of change.
func fingerprint(dirs ...string) (string, error) {
	var files []fs.FileInfo
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(dir, e.Name())) // of what a link points to
			if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
				continue
			}
			if err != nil {
				return "", err
			}
			files = append(files, info)
		}
	}
	return hashFiles(files...), nil
}

// inspect checks that the checkpoint's tokenizer and sizes fit together and says how
// to export it.
func (p *Preparer) inspect(dir string, s origin) (opts export.Options, err error) {
	spec, err := checkpoint.ReadSpec(dir)
	if err != nil {
		return opts, err
	}
	f, between, err := recognize(model.Folder(dir), s.called, p.cfg.Family, p.cfg.Languages)
	if err == nil && p.cfg.Family == "" {
		err = f.CheckGuess(model.Folder(dir), spec)
	}
	if err != nil {
		return opts, fmt.Errorf("%s: %w", s.name, err)
	}
	tok, err := f.Tokenizer(dir, between.All())
	if err != nil {
		return opts, err
	}
	for _, sizes := range [][2]int{{tok.SourceSize(), spec.SourceRows()}, {tok.Size(), spec.VocabSize}} {
		if sizes[0] > sizes[1] {
			return opts, fmt.Errorf("%s: the tokenizer has %d tokens, the model's vocab_size is %d: these files do not belong together",
				s.name, sizes[0], sizes[1])
		}
	}
	opts = export.Options{
		Precision: cmp.Or(p.cfg.Precision, auto(spec)), Source: s.name, Family: f.Name, Languages: s.languages,
		Sources: between.Sources, Targets: between.Targets,
	}
	if opts.Languages == nil {
		opts.Languages = tok.Languages()
	}
	return opts, nil
}

// recognize returns the family of a checkpoint, and which languages it translates between. name is that of its repository or folder; the
// others are what the user says.
func recognize(files model.Files, name, familyName, languages string) (f *family.Family, between family.Directions, err error) {
	if f, err = family.Recognize(files, familyName); err != nil {
		return nil, between, err
	}
	set, err := family.ParseDirections(languages)
	if err == nil {
		between, err = f.Directions(files, name, set)
	}
	return f, between, err
}

// CheckLanguages is meant for source.Config.Check: it refuses a model, before its weights are fetched, where nothing tells its languages.
func CheckLanguages(familyName, languages string) func(files model.Files, name string) error {
	return func(files model.Files, name string) error {
		_, _, err := recognize(files, name, familyName, languages)
		return err
	}
}

// auto is the best precision for a CPU. Models of recurrent units come in 8 bits.
func auto(s model.Spec) model.Precision {
	if s.Small() && !s.Recurrent {
		return model.FP32
	}
	return model.INT8
}

// AcceptConfig says whether config.json, with generation_config.json or nil, is that of a model which can be exported, and
// the maximum size of its weights in bytes. It is meant for source.Config.Accept, which
// refuses a model before gigabytes are fetched.
func AcceptConfig(config, generation []byte) (weights int64, err error) {
	spec, _, err := family.ParseConfig("", config, generation)
	if err != nil {
		return 0, err
	}
	return checkpoint.MaxBytes(spec), nil
}
