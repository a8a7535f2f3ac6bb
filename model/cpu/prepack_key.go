package cpu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/cpu"

	"dragoman/model"
)

// prepackKey is all that decides what prepacked weights look like. ONNX Runtime
// uses a packed matrix only if it is byte for byte what it packs itself, so a key
// that misses something costs memory, never a translation.
type prepackKey struct {
	Format  int               `json:"format"`  // of the folder
	Model   string            `json:"model"`   // sha256 of the manifest, and with it of all files
	Runtime string            `json:"runtime"` // ONNX Runtime's version
	Arch    string            `json:"arch"`
	CPU     []string          `json:"cpu"` // features that have kernels of their own
	Options map[string]string `json:"options"`
}

// prepackFormat changes whenever older prepacked folders must not be used.
const prepackFormat = 1

// newPrepackKey makes the key of the exported folder dir on this machine.
func newPrepackKey(ctx context.Context, dir, runtimeVersion string, config sessionConfig) (prepackKey, error) {
	manifest, err := model.HashFile(ctx, filepath.Join(dir, model.ManifestFile))
	return prepackKey{
		Format: prepackFormat, Model: manifest.SHA256, Runtime: runtimeVersion,
		Arch: runtime.GOARCH, CPU: cpuFeatures(), Options: config.entries,
	}, err
}

// name is the name of the key's folder.
func (k prepackKey) name() (string, error) {
	raw, err := json.Marshal(k)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// cpuFeatures names the features of this CPU by which ONNX Runtime chooses its
// matrix kernels, and each kernel its layout of packed matrices.
func cpuFeatures() []string {
	var found []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx", cpu.X86.HasAVX},
		{"avx2", cpu.X86.HasAVX2},
		{"fma", cpu.X86.HasFMA},
		{"avxvnni", cpu.X86.HasAVXVNNI},
		{"avxvnniint8", cpu.X86.HasAVXVNNIInt8},
		{"avx512f", cpu.X86.HasAVX512F},
		{"avx512bw", cpu.X86.HasAVX512BW},
		{"avx512dq", cpu.X86.HasAVX512DQ},
		{"avx512vl", cpu.X86.HasAVX512VL},
		{"avx512vnni", cpu.X86.HasAVX512VNNI},
		{"avx512bf16", cpu.X86.HasAVX512BF16},
		{"amxtile", cpu.X86.HasAMXTile},
		{"amxint8", cpu.X86.HasAMXInt8},
		{"amxbf16", cpu.X86.HasAMXBF16},
		{"asimdhp", cpu.ARM64.HasASIMDHP},
		{"asimddp", cpu.ARM64.HasASIMDDP},
		{"i8mm", cpu.ARM64.HasI8MM},
		{"sve", cpu.ARM64.HasSVE},
		{"sve2", cpu.ARM64.HasSVE2},
	} {
		if f.has {
			found = append(found, f.name)
		}
	}
	return found
}

// prepackManifest is the prepack.json of a prepacked folder.
type prepackManifest struct {
	Key   prepackKey            `json:"key"`
	Files map[string]model.File `json:"files"`
}

// prepackManifestFile is in every prepacked folder. Who uses the folder holds a
// shared lock on it.
const prepackManifestFile = "prepack.json"

func readPrepackManifest(dir string) (*prepackManifest, error) {
	path := filepath.Join(dir, prepackManifestFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m prepackManifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return &m, nil
}
