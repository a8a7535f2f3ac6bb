package source_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// students are the files of a repository with Firefox's models, all with the content of their names.
func students(names ...string) map[string][]byte {
	files := map[string][]byte{"README.md": nil, "LICENSE": nil}
	for _, name := range names {
		files[name] = []byte(name)
	}
	return files
}

const enfr, ende = "model.enfr.intgemm.alphas.bin", "model.ende.intgemm.alphas.bin"

func TestFirefoxOfARepository(t *testing.T) {
	flat := students(enfr, "vocab.enfr.spm", "lex.50.50.enfr.s2t.bin", ende+".gz", "srcvocab.ende.spm.gz", "trgvocab.ende.spm", "other.bin")
	folders := students("en-fr/"+enfr, "en-fr/vocab.enfr.spm.zst", "en-fr/metadata.json", "deep/er/"+ende, "deep/er/vocab.ende.spm", "deep/er/x/vocab.enfr.spm")
	for name, tt := range map[string]struct {
		files map[string][]byte
		ref   string
		want  []string
	}{
		"the only one":       {students(enfr, "vocab.enfr.spm", "lex.50.50.enfr.s2t.bin", "qualityModel.enfr.bin"), "", []string{enfr, "vocab.enfr.spm", "lex.50.50.enfr.s2t.bin"}},
		"without a pair":     {students("model.intgemm.alphas.bin", "vocab.spm", "lex.s2t.bin"), "", []string{"model.intgemm.alphas.bin", "vocab.spm", "lex.s2t.bin"}},
		"packed twice":       {students(enfr, enfr+".gz", "vocab.enfr.spm", "vocab.enfr.spm.gz"), "", []string{enfr + ".gz", "vocab.enfr.spm.gz"}},
		"a folder":           {folders, "/en-fr", []string{enfr, "vocab.enfr.spm.zst", "metadata.json"}},
		"a deeper folder":    {folders, "/deep/er", []string{ende, "vocab.ende.spm"}},
		"of several":         {flat, "/" + enfr, []string{enfr, "vocab.enfr.spm", "lex.50.50.enfr.s2t.bin"}},
		"two vocabularies":   {flat, "/" + ende + ".gz", []string{ende + ".gz", "srcvocab.ende.spm.gz", "trgvocab.ende.spm"}},
		"a file in a folder": {folders, "/en-fr/" + enfr, []string{enfr, "vocab.enfr.spm.zst", "metadata.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := tt.files["en-fr/metadata.json"]; ok {
				tt.files["en-fr/metadata.json"] = []byte(`{"sourceLanguage": "en", "targetLanguage": "fr"}`)
			}
			s := hubtest.New(t, repo, tt.files, hubtest.WithToken("hf_secret"))
			commit, dir := s.Push("main", tt.files), t.TempDir()
			c := newClient(t, s, func(c *source.Config) { c.Token = "hf_secret" })
			from := ref(t, repo+tt.ref)
			result, err := c.Pull(t.Context(), from, dir)
			require.NoError(t, err)
			assert.Equal(t, commit, result)
			folder := strings.TrimPrefix(tt.ref, "/")
			if path.Ext(folder) != "" {
				folder = strings.TrimPrefix(path.Dir(folder), ".")
			}
			want := map[string][]byte{}
			for _, name := range tt.want {
				want[name] = tt.files[path.Join(folder, name)]
			}
			assertHolds(t, dir, want, tt.want...)
			before := len(s.Requests())
			again, err := c.Pull(t.Context(), ref(t, repo+tt.ref+"@"+commit), dir)
			require.NoError(t, err)
			assert.Equal(t, result, again)
			assert.Len(t, s.Requests(), before, "nothing can have changed")
			found, err := c.Commit(t.Context(), from)
			require.NoError(t, err)
			assert.Equal(t, commit, found)
		})
	}
}

// A folder of a repository may have a model of any form.
func TestFolderOfARepository(t *testing.T) {
	for name, files := range map[string]map[string][]byte{"checkpoint": repoFiles(), "converted": converted()} {
		t.Run(name, func(t *testing.T) {
			deeper := map[string][]byte{}
			for name, content := range files {
				deeper["some/folder/"+name] = content
			}
			s, dir := hubtest.New(t, repo, deeper), t.TempDir()
			result, err := newClient(t, s).Pull(t.Context(), ref(t, repo+"/some/folder"), dir)
			require.NoError(t, err)
			assert.NotEmpty(t, result)
			assert.Contains(t, list(t, dir), "config.json")
			_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), t.TempDir())
			require.ErrorIs(t, err, source.ErrIncomplete)
			assert.ErrorContains(t, err, "its folders that may have one are some/folder: write "+repo+"/some/folder")
		})
	}
}

func TestFirefoxAtAURL(t *testing.T) {
	const metadata = `{"sourceLanguage": "en", "targetLanguage": "fr"}`
	files := students(enfr+".gz", "vocab.enfr.spm.zst", "lex.50.50.enfr.s2t.bin.gz", ende, "vocab.ende.spm")
	told := maps.Clone(files)
	told["metadata.json"] = []byte(metadata)
	for name, tt := range map[string]struct {
		files map[string][]byte
		ref   string
		want  []string
		gone  string // what is said where there is something else
	}{
		"by its file": {files, "/" + enfr + ".gz", []string{enfr + ".gz", "vocab.enfr.spm.zst", "lex.50.50.enfr.s2t.bin.gz"}, enfr + ".gz"},
		"by metadata": {told, "", []string{enfr + ".gz", "vocab.enfr.spm.zst", "lex.50.50.enfr.s2t.bin.gz", "metadata.json"}, "metadata.json: this is not the JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := hubtest.New(t, repo, tt.files), t.TempDir()
			from := ref(t, s.Base+tt.ref)
			result, err := newClient(t, s).Pull(t.Context(), from, dir)
			require.NoError(t, err)
			assertHolds(t, dir, tt.files, tt.want...)
			assert.LessOrEqual(t, len(s.Requests()), 40, "the names that are tried are few")
			assert.NotEmpty(t, result)
			assertCommit := func(same bool, changed string) {
				commit, err := newClient(t, s).Commit(t.Context(), from)
				require.NoError(t, err)
				assert.NotEmpty(t, commit)
				assert.Equal(t, same, commit == result, changed)
			}
			assertCommit(true, "nothing")
			for _, name := range tt.want {
				changed := maps.Clone(tt.files)
				changed[name] = append([]byte(" "), tt.files[name]...)
				s.Push("main", changed)
				assertCommit(false, name)
			}
			s.Push("main", students(ende, "metadata.json"))
			_, err = newClient(t, s).Commit(t.Context(), from)
			assert.ErrorContains(t, err, tt.gone)
		})
	}
}

func TestFirefoxOfARepositoryRefuses(t *testing.T) {
	one := students(enfr, "vocab.enfr.spm")
	for name, tt := range map[string]struct {
		files   map[string][]byte
		ref     string // behind the repository's name; of a URL with "URL" in front
		fault   hubtest.Fault
		is      error
		message string
	}{
		"several models":       {files: students(enfr, ende, "vocab.enfr.spm"), is: source.ErrIncomplete, message: "name the file of one of them"},
		"several vocabularies": {files: students(enfr, "vocab.enfr.spm", "vocab.ende.spm"), is: source.ErrIncomplete, message: "vocab.ende.spm and vocab.enfr.spm are both there"},
		"no vocabulary":        {files: students(enfr, "trgvocab.enfr.spm"), is: source.ErrIncomplete, message: "there is no vocab.*.spm"},
		"another's vocabulary": {files: students(enfr, "vocab.ende.spm"), ref: "/" + enfr, is: source.ErrIncomplete, message: "there is no vocab.*.spm"},
		"no such file":         {files: one, ref: "/" + ende, is: source.ErrFileNotFound, message: ende},
		"no such folder":       {files: one, ref: "/de", is: source.ErrIncomplete, message: "nor a model of Firefox's is there"},
		"in a folder":          {files: students("b/"+enfr, "a/"+ende), is: source.ErrIncomplete, message: "its folders that may have one are a, b: write " + repo + "/a"},
		"odd names":            {files: students("../"+enfr, "a b/"+enfr, "/"+enfr, `..\`+enfr), is: source.ErrIncomplete, message: "nor a model of Firefox's is there"},
		"no list":              {files: one, fault: hubtest.Fault{File: "main", Status: 404, Times: -1}, is: source.ErrIncomplete, message: "nor a model of Firefox's is there"},
		"a list that is none":  {files: one, fault: hubtest.Fault{File: "main", Corrupt: true, Times: -1}, message: "this is not the JSON that was asked for"},
		"a list that fails":    {files: one, fault: hubtest.Fault{File: "main", Status: 500, Times: -1}, message: "gave up after 6 tries"},
		"another file":         {files: one, fault: hubtest.Fault{File: enfr, Corrupt: true, Times: -1}, is: source.ErrChecksum, message: "expected sha256:"},
		"a URL":                {files: one, ref: "URL", is: source.ErrIncomplete, message: "can be named by its file, such as http://"},
		"a URL of no file":     {files: one, ref: "URL/" + ende, is: source.ErrFileNotFound, message: ende},
		"a URL of one file":    {files: students(enfr), ref: "URL/" + enfr, is: source.ErrIncomplete, message: "there is no vocab.*.spm"},
		"broken metadata":      {files: students(enfr, "metadata.json"), ref: "URL", message: "metadata.json: invalid"},
		"odd languages": {files: map[string][]byte{"metadata.json": []byte(`{"sourceLanguage": "../x/", "targetLanguage": "en"}`)}, ref: "URL", is: source.ErrIncomplete,
			message: "nor a model of Firefox's is there"},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := hubtest.New(t, repo, tt.files), t.TempDir()
			s.Fail(tt.fault)
			from := repo + tt.ref
			if rest, ok := strings.CutPrefix(tt.ref, "URL"); ok {
				from = s.Base + rest
			}
			_, err := newClient(t, s).Pull(t.Context(), ref(t, from), dir)
			require.ErrorContains(t, err, tt.message)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
			assert.False(t, slices.Contains(list(t, dir), enfr))
		})
	}
}
