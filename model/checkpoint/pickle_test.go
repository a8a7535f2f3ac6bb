package checkpoint

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestUnpickleRefuses(t *testing.T) {
	good := vector(0, 1, 1)
	swap := func(from, to string) string {
		require.Contains(t, good, from)
		return strings.Replace(good, from, to, 1)
	}
	tests := map[string]struct{ raw, want string }{
		"empty":             {"", "pickle has no end"},
		"no end":            {"\x80\x02}", "pickle has no end"},
		"end at once":       {".", "malformed pickle: the stack is empty"},
		"protocol":          {"\x80\x09}.", "malformed pickle: unsupported pickle protocol: 9"},
		"system call":       {"cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", "os.system is not allowed: only a state dict of plain tensors"},
		"stacked call":      {"\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.", "os.system is not allowed"},
		"unknown opcode":    {"\xff.", "pickle opcode 0xff at byte 0: torch.save writes no such thing"},
		"instance":          {"(ios\nsystem\n.", "pickle opcode 0x69 at byte 1"},
		"bytes":             {"B\x00\x00\x00\x00.", "pickle opcode 0x42"},
		"long string":       {"X\xff\xff\xff\xffabc.", "pickle opcode 0x58 at byte 0: argument beyond the end"},
		"string too long":   {"X\x01\x01\x00\x00" + strings.Repeat("a", 257) + ".", "string of 257 bytes: at most 256 are supported"},
		"many uses":         {"Nq\x00" + strings.Repeat("h\x00", maxPickleObjects+1) + ".", "pickle has 0 open marks and 65537 objects"},
		"longer string":     {"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.", "pickle opcode 0x8d"},
		"long integer":      {"\x8b\xff\xff\xff\x7f.", "pickle opcode 0x8b"},
		"empty integer":     {"\x8a\x00.", "integer of 0 bytes: 1 to 8 are supported"},
		"large integer":     {"\x8a\x09012345678.", "integer of 9 bytes: 1 to 8 are supported"},
		"long frame":        {"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f}.", "pickle opcode 0x95 at byte 2: argument beyond the end"},
		"frame too short":   {"\x80\x04\x95\x03\x00\x00\x00\x00\x00\x00\x00\x8c\x02ab.", "malformed pickle: pickle exhausted before end of frame"},
		"name cut":          {"ctorch\nFloat", "pickle opcode 0x63 at byte 0: argument beyond the end"},
		"open marks":        {strings.Repeat("(", maxPickleDepth+1) + ".", "pickle has 65 open marks and 0 objects at byte 64"},
		"unopened":          {"t.", "pickle has -1 open marks"},
		"many objects":      {strings.Repeat("}", maxPickleObjects+1) + ".", "pickle has 0 open marks and 65537 objects"},
		"odd items":         {"}(K\x01u.", "malformed pickle: runtime error: index out of range"},
		"number":            {"K\x01.", "pickle is not a state dict"},
		"number key":        {"}K\x01K\x02s.", "state dict has a key that is not a string but a int"},
		"number value":      {"}X\x01\x00\x00\x00aK\x02s.", `state dict has "a", which is not a tensor`},
		"missing memo":      {"}h\x07N" + "s.", "state dict has a key that is not a string but a <nil>"},
		"itself":            {"}q\x00X\x01\x00\x00\x00ah\x00s.", `state dict has "a", which is not a tensor`},
		"calls a dict":      {"})R.", "malformed pickle: REDUCE requires a Callable"},
		"calls itself":      {"}q\x00X\x01\x00\x00\x00ah\x00s)R.", "malformed pickle: REDUCE requires a Callable"},
		"reduces no tuple":  {"ccollections\nOrderedDict\n}R.", "malformed pickle: REDUCE args must be *Tuple"},
		"storage is a dict": {"}Q.", "storage reference is not a tuple of 5"},
		"other reference":   {swap("\x07\x00\x00\x00storage", "\x06\x00\x00\x00module"), `storage reference is not ("storage"`},
		"part of a storage": {swap("K\x01tQ", "K\x01K\x00tQ"), "storage reference to a part of another storage"},
		"other class":       {swap("FloatStorage", "QInt8Storage"), "torch.QInt8Storage is not allowed"},
		"no class":          {swap("ctorch\nFloatStorage\n", "N"), `storage reference is not ("storage"`},
		"negative length":   {swap("K\x01tQ", "J\xff\xff\xff\xfftQ"), `storage reference is not ("storage"`},
		"no shape":          {swap("K\x01\x85K\x01\x85", "NN"), "tensor is not (storage, offset, size, stride, …)"},
		"no stride":         {swap("K\x01\x85K\x01\x85", "K\x01\x85)"), "tensor is not (storage, offset, size, stride, …)"},
		"shape of strings":  {swap("K\x01\x85K\x01\x85", "N\x85K\x01\x85"), "tensor is not (storage, offset, size, stride, …)"},
		"fewer arguments":   {swap("\x89ccollections\nOrderedDict\n)RtR", "tR"), "tensor of 4 arguments, expected 6"},
		"twice": {"\x80\x02}(" + good[3:len(good)-2] + good[3:len(good)-2] + "u.",
			`state dict has tensor "a" twice`},
		"parameter of nothing": {"ctorch._utils\n_rebuild_parameter\nNNN\x87R.", "parameter without a tensor"},
		"parameter alone":      {"ctorch._utils\n_rebuild_parameter\n)R.", "parameter of 0 arguments, expected 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := unpickleStateDict([]byte(test.raw))
			assert.ErrorContains(t, err, test.want)
		})
	}
	views, rest, err := unpickleStateDict([]byte(good + "more"))
	require.NoError(t, err)
	assert.Equal(t, "more", string(rest))
	assert.Equal(t, map[string]view{"a": {storage{F32, "0", 1}, 0, []int{1}, []int{1}}}, views)
}

// The scan must let through all that torch writes: a state dict of real size.
func TestScanPickleTorch(t *testing.T) {
	raw, err := os.ReadFile("testdata/torch/" + model.TorchFile)
	require.NoError(t, err)
	tensors, err := parseTorch(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	assert.Len(t, tensors, 50) // 47 and three copies of the embedding
}

// FuzzTorchPickle reads state dicts, with one storage to refer to.
func FuzzTorchPickle(f *testing.F) {
	paths, err := filepath.Glob("testdata/pickles/*.bin")
	require.NoError(f, err)
	for _, path := range paths {
		z, err := zip.OpenReader(path)
		if err != nil {
			continue // the old format
		}
		for _, file := range z.File {
			if strings.HasSuffix(file.Name, "/data.pkl") {
				offset, err := file.DataOffset()
				require.NoError(f, err)
				raw, err := os.ReadFile(path)
				require.NoError(f, err)
				f.Add(raw[offset : offset+int64(file.UncompressedSize64)])
			}
		}
		require.NoError(f, z.Close())
	}
	f.Add([]byte(vector(1, 2, 4)))
	f.Fuzz(func(t *testing.T, pickle []byte) {
		raw := archiveOf(t, entry{"m/data.pkl", zip.Store, string(pickle)}, entry{"m/data/0", zip.Store, strings.Repeat("\x00\x00\x80\x3f", 4)})
		tensors, err := parseTorch(bytes.NewReader(raw), int64(len(raw)))
		if err == nil {
			readAll(t, tensors, 16)
		}
	})
}
