package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

func index(files ...string) []byte {
	weights := map[string]string{}
	for i, file := range files {
		weights["tensor."+string(rune('a'+i))] = file
	}
	raw, err := json.Marshal(map[string]any{"weight_map": weights})
	if err != nil {
		panic(err)
	}
	return raw
}

// Every shape of checkpoint from every sort of source arrives whole, and a
// second pull fetches nothing.
func TestPullFetchesWhatACheckpointNeeds(t *testing.T) {
	shard1, shard2 := "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	tables := []struct {
		name  string
		files map[string][]byte
		want  []string
	}{
		{"one file", repoFiles(), usual},
		{"with a model card", repoFiles(map[string][]byte{"README.md": []byte("# a model")}), append(slices.Clone(usual), "README.md")},
		{"of an older tokenizer", repoFiles(map[string][]byte{"added_tokens.json": []byte("{}"), "special_tokens_map.json": []byte("{}")}),
			append(slices.Clone(usual), "added_tokens.json", "special_tokens_map.json")},
		{"safetensors before bin", repoFiles(map[string][]byte{"pytorch_model.bin": noise(4, 99)}), usual},
		{"bin only", repoFiles(map[string][]byte{weight: nil, "pytorch_model.bin": noise(4, 99_999)}),
			append(slices.Clone(usual[:5]), "pytorch_model.bin")},
		{"shards", repoFiles(map[string][]byte{weight: nil, "model.safetensors.index.json": index(shard2, shard1, shard2),
			shard1: noise(5, 5_000), shard2: noise(6, 6_000)}),
			append(slices.Clone(usual[:5]), "model.safetensors.index.json", shard1, shard2)},
		{"bin shards", repoFiles(map[string][]byte{weight: nil, "pytorch_model.bin.index.json": index("pytorch_model-1.bin"),
			"pytorch_model-1.bin": noise(5, 5_000)}),
			append(slices.Clone(usual[:5]), "pytorch_model.bin.index.json", "pytorch_model-1.bin")},
		{"without optional files", repoFiles(map[string][]byte{"generation_config.json": nil, "tokenizer_config.json": nil}),
			[]string{"config.json", "vocab.json", "sentencepiece.bpe.model", weight}},
		{"empty file", repoFiles(map[string][]byte{"generation_config.json": {}}), usual},
	}
	sources := []struct {
		name string
		opts []hubtest.Option
		url  bool
	}{
		{"hub", nil, false},
		{"path prefix", []hubtest.Option{hubtest.WithPrefix("/mirrors/hf")}, false},
		{"private", []hubtest.Option{hubtest.WithToken("hf_secret")}, false},
		{"URL", nil, true},
	}
	for _, tt := range tables {
		for _, kind := range sources {
			t.Run(tt.name+"/"+kind.name, func(t *testing.T) {
				s := hubtest.New(t, repo, tt.files, kind.opts...)
				c := newClient(t, s, func(cfg *source.Config) { cfg.Token = "hf_secret" })
				from, commit := ref(t, repo), s.Push("main", tt.files)
				if kind.url {
					from = ref(t, s.Base+"/")
				}
				dir := filepath.Join(t.TempDir(), "new", "folder")

				result, err := c.Pull(t.Context(), from, dir)
				require.NoError(t, err)
				assertHolds(t, dir, tt.files, tt.want...)
				if kind.url {
					commit, err = c.Commit(t.Context(), from)
					require.NoError(t, err)
				}
				assert.Equal(t, commit, result)

				before := len(s.Requests())
				again, err := c.Pull(t.Context(), from, dir)
				require.NoError(t, err)
				assert.Equal(t, result, again)
				for _, r := range s.Requests()[before:] {
					assert.Equal(t, http.MethodHead, r.Method, r.Path)
				}
			})
		}
	}
}

func TestTokenIsSentToTheEndpointOnly(t *testing.T) {
	files := repoFiles()
	s := hubtest.New(t, repo, files, hubtest.WithToken("hf_secret"))
	elsewhere := hubtest.New(t, repo, files)
	c := newClient(t, s, func(cfg *source.Config) { cfg.Token = " hf_secret\n" })

	_, err := c.Pull(t.Context(), ref(t, repo), t.TempDir())
	require.NoError(t, err)
	hosts := map[string]int{}
	for _, r := range s.Requests() {
		hosts[r.Host]++
		want := map[string]string{"hub": "Bearer hf_secret", "storage": ""}[r.Host]
		assert.Equal(t, want, r.Authorization, "%s %s %s", r.Host, r.Method, r.Path)
	}
	assert.Positive(t, hosts["hub"])
	assert.Equal(t, 2, hosts["storage"], "the two large files, and no HEAD of them")

	_, err = c.Pull(t.Context(), ref(t, elsewhere.Base), t.TempDir())
	require.NoError(t, err)
	for _, r := range elsewhere.Requests() {
		assert.Empty(t, r.Authorization)
	}
}

// A commit is asked for once; everything else is fetched from it, whatever is
// pushed meanwhile.
func TestPullIsPinnedToACommit(t *testing.T) {
	files := repoFiles()
	s := hubtest.New(t, repo, files)
	commit := s.Push("refs/pr/1", files)
	s.Fail(hubtest.Fault{File: "config.json", Do: func() {
		s.Push("refs/pr/1", repoFiles(map[string][]byte{weight: noise(9, size)}))
	}})
	from, err := source.ParseRef(repo, "refs/pr/1")
	require.NoError(t, err)
	dir := t.TempDir()
	result, err := newClient(t, s).Pull(t.Context(), from, dir)
	require.NoError(t, err)
	assert.Equal(t, commit, result)
	assertHolds(t, dir, files, usual...)
}

func TestPullByCommitOfACompleteFolderAsksNobody(t *testing.T) {
	s := hubtest.New(t, repo, repoFiles())
	dir := t.TempDir()
	c := newClient(t, s)
	first, err := c.Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	before := len(s.Requests())
	again, err := c.Pull(t.Context(), ref(t, repo+"@"+first), dir)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	assert.Len(t, s.Requests(), before)
}

func TestPullOfANewCommitFetchesWhatChanged(t *testing.T) {
	shard := "model-1.safetensors"
	s := hubtest.New(t, repo, repoFiles(map[string][]byte{weight: nil,
		"model.safetensors.index.json": index(shard), shard: noise(7, 7_000)}))
	dir := t.TempDir()
	c := newClient(t, s)
	_, err := c.Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)

	files := repoFiles(map[string][]byte{"config.json": []byte(`{"model_type": "m2m_100", "d_model": 8}`)})
	commit := s.Push("main", files)
	result, err := c.Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	assert.Equal(t, commit, result)
	assertHolds(t, dir, files, usual...) // the index and shard of the old commit are gone
	assert.EqualValues(t, len(files["vocab.json"]), s.Sent("vocab.json"), "unchanged, so fetched once")
}

func TestPullMendsTheFolder(t *testing.T) {
	files := repoFiles()
	damage := map[string]func(t *testing.T, dir string){
		"short file": func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, weight), 1000))
		},
		"missing file": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "vocab.json")))
		},
		"damaged state": func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".dragoman-pull.json"), []byte(`{"complete": tr`), 0o644))
		},
		"damaged partial": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, weight)))
			require.NoError(t, os.WriteFile(filepath.Join(dir, weight+".partial"), []byte("nonsense"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".dragoman-pull.json"), []byte(`{"files": {"`+weight+`.partial":
				{"size": 300000, "sum": "sha256:`+hubtest.SHA256(files[weight])+`"}}}`), 0o644))
		},
	}
	for name, damage := range damage {
		t.Run(name, func(t *testing.T) {
			s := hubtest.New(t, repo, files)
			dir := t.TempDir()
			c := newClient(t, s)
			_, err := c.Pull(t.Context(), ref(t, repo), dir)
			require.NoError(t, err)
			damage(t, dir)
			_, err = c.Pull(t.Context(), ref(t, repo), dir)
			require.NoError(t, err)
			assertHolds(t, dir, files, usual...)
		})
	}
}

func TestPullRemovesPartialFilesOfAnEarlierCommit(t *testing.T) {
	s := hubtest.New(t, repo, repoFiles())
	s.Fail(hubtest.Fault{File: weight, CutAfter: 50_000}, hubtest.Fault{File: weight, Status: http.StatusNotFound})
	dir := t.TempDir()
	_, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.ErrorIs(t, err, source.ErrFileNotFound)
	assert.FileExists(t, filepath.Join(dir, weight+".partial"))
	killed := filepath.Join(dir, ".dragoman-pull.json.1234") // while it wrote the state
	require.NoError(t, os.WriteFile(killed, nil, 0o644))

	files := repoFiles(map[string][]byte{weight: nil, "pytorch_model.bin": noise(4, 99)})
	s.Push("main", files)
	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	assertHolds(t, dir, files, append(slices.Clone(usual[:5]), "pytorch_model.bin")...)
	assert.NoFileExists(t, killed)
}

func TestFilesCopiedByHandAreTakenOverIfTheyAreRight(t *testing.T) {
	files := repoFiles()
	s := hubtest.New(t, repo, files)
	dir := t.TempDir()
	wrong := slices.Clone(files["sentencepiece.bpe.model"])
	wrong[100] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(dir, weight), files[weight], 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "vocab.json"), files["vocab.json"], 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sentencepiece.bpe.model"), wrong, 0o644))

	_, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	assertHolds(t, dir, files, usual...)
	assert.Zero(t, s.Sent(weight))
	assert.Zero(t, s.Sent("vocab.json"))
	assert.EqualValues(t, len(wrong), s.Sent("sentencepiece.bpe.model"))
}

func TestForeignWeightsThatWouldBeReadInsteadAreRefused(t *testing.T) {
	s := hubtest.New(t, repo, repoFiles(map[string][]byte{weight: nil, "pytorch_model.bin": noise(4, 99)}))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, weight), []byte("mine"), 0o644))
	_, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.ErrorContains(t, err, "holds a model.safetensors that is not of this checkpoint")
	assert.FileExists(t, filepath.Join(dir, weight))
	assert.Zero(t, s.Sent("pytorch_model.bin"))
}

func TestPullStopsBeforeTheWeights(t *testing.T) {
	refused := errors.New("model_type is bert")
	for name, tt := range map[string]struct {
		free func(string) (uint64, error) // nil: enough
		deny error                        // by accept
		bad  error                        // by the check
		is   error
		text string
	}{
		"no space":             {free: func(string) (uint64, error) { return 1234, nil }, is: source.ErrNoSpace, text: "owner/m2m100 needs 320 kB (320022 bytes)"},
		"unknown space":        {free: func(string) (uint64, error) { return 0, os.ErrPermission }, is: os.ErrPermission, text: "free disk space"},
		"refused by user":      {deny: refused, is: refused, text: "cannot fetch owner/m2m100: model_type is bert"},
		"refused by its files": {bad: refused, is: refused, text: "cannot fetch owner/m2m100: model_type is bert"},
	} {
		t.Run(name, func(t *testing.T) {
			s := hubtest.New(t, repo, repoFiles())
			c := newClient(t, s)
			c.SetAccept(func(_, generation []byte) (int64, error) {
				assert.JSONEq(t, `{"num_beams": 5}`, string(generation))
				return size, tt.deny
			})
			c.SetCheck(func(files model.Files, name string) error {
				assert.Equal(t, "m2m100", name)
				raw, err := files.Read("config.json")
				require.NoError(t, err)
				assert.Contains(t, string(raw), "m2m_100")
				return tt.bad
			})
			if tt.free != nil {
				c.SetFreeSpace(tt.free)
			}
			_, err := c.Pull(t.Context(), ref(t, repo), t.TempDir())
			require.ErrorIs(t, err, tt.is)
			assert.ErrorContains(t, err, tt.text)
			assert.NotContains(t, err.Error(), "\n")
			assert.Zero(t, s.Sent(weight))
		})
	}
}

func TestNewRefusesConfig(t *testing.T) {
	for _, tt := range []struct {
		cfg  source.Config
		text string
	}{
		{source.Config{Endpoint: "mirror.example"}, "HF_ENDPOINT"},
		{source.Config{Endpoint: "ftp://me:hf_x@mirror.example"}, "HF_ENDPOINT"},
		{source.Config{Endpoint: "http://[::1"}, "HF_ENDPOINT"},
		{source.Config{Token: "hf_one\nhf_two"}, "HF_TOKEN"},
		{source.Config{Token: "hf_é"}, "HF_TOKEN"},
	} {
		_, err := source.New(tt.cfg)
		require.ErrorContains(t, err, tt.text)
		assert.False(t, strings.Contains(err.Error(), "hf_"), "the token stays secret")
	}
}

// A service tries again if the address of a name is not known for the moment; a command does not, and nobody does where there is no
// such name.
func TestAddressThatIsNotKnownYet(t *testing.T) {
	ref, err := source.ParseRef("owner/name", "")
	require.NoError(t, err)
	for _, test := range []struct {
		patient bool
		err     net.DNSError
		tries   int
	}{
		{true, net.DNSError{Err: "server misbehaving", IsTemporary: true}, 6},
		{true, net.DNSError{Err: "i/o timeout", IsTimeout: true}, 6},
		{true, net.DNSError{Err: "no such host", IsNotFound: true}, 1},
		{false, net.DNSError{Err: "server misbehaving", IsTemporary: true}, 1},
		{false, net.DNSError{Err: "i/o timeout", IsTimeout: true}, 1},
	} {
		c, err := source.New(source.Config{Endpoint: "http://mirror.invalid", Patient: test.patient})
		require.NoError(t, err)
		tries := 0
		c.SetWait(func(context.Context, time.Duration) error { return nil })
		c.SetLookup(func(context.Context, string) error {
			tries++
			return fmt.Errorf("no address: %w", &test.err)
		})
		_, err = c.Pull(t.Context(), ref, t.TempDir())
		assert.ErrorContains(t, err, test.err.Err)
		assert.Equal(t, test.tries, tries, "%+v", test)
	}
}

// A name without an address is looked up once.
func TestNoAddress(t *testing.T) {
	c, err := source.New(source.Config{Endpoint: "http://nosuch.invalid"})
	require.NoError(t, err)
	c.SetWait(func(context.Context, time.Duration) error {
		t.Error("another try")
		return nil
	})
	ref, err := source.ParseRef("owner/name", "")
	require.NoError(t, err)
	_, err = c.Pull(t.Context(), ref, t.TempDir())
	_, ok := errors.AsType[*net.DNSError](err)
	assert.True(t, ok, "%v", err)
	assert.ErrorContains(t, err, "there is no address of nosuch.invalid: check its name, the network and the DNS of this machine")
}
