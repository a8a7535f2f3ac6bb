package initcontainer

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dragoman/scripts/k8s/manifests"
)

// repository is the repository's root relative to this package.
const repository = "../../.."

// image is a folder with the contents of an image of the service: the program, and ONNX Runtime's library beside it.
var image string

// checkpoint has the files on the hub, by name.
var checkpoint map[string][]byte

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run makes the shared fixtures, runs the tests and cleans up.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dragoman-image-")
	if err == nil {
		defer os.RemoveAll(dir)
		image = filepath.Join(dir, "image")
		err = makeImage(dir)
	}
	if err == nil {
		checkpoint, err = makeCheckpoint(filepath.Join(dir, "checkpoint"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "initcontainer:", err)
		return 1
	}
	return m.Run()
}

// makeImage builds the program.
func makeImage(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil { // the containers' user must be able to enter
		return err
	}
	if err := os.Mkdir(image, 0o755); err != nil {
		return err
	}
	if err := inRepository("go", "build", "-trimpath", "-o", filepath.Join(image, "dragoman"), "./app"); err != nil {
		return err
	}
	const library = "libonnxruntime.so"
	raw, err := os.ReadFile(filepath.Join(repository, "build", "onnxruntime", library))
	if err != nil {
		return fmt.Errorf("%w: run `make runtime`", err)
	}
	return os.WriteFile(filepath.Join(image, library), raw, 0o644)
}

// makeCheckpoint makes a model with random weights and the bundled model's vocabulary. It is just large enough to be quantized
// and packed as real models are (63M parameters, 127 MB).
func makeCheckpoint(dir string) (map[string][]byte, error) {
	bundled := filepath.Join(repository, "model", "bundled")
	raw, err := os.ReadFile(filepath.Join(bundled, "config.json"))
	if err != nil {
		return nil, err
	}
	var config map[string]any
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, err
	}
	for name, value := range map[string]int{
		"d_model": 512, "encoder_layers": 8, "decoder_layers": 8, "num_hidden_layers": 8,
		"encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048,
		// Random weights rarely end a sentence, so retries need a bound.
		"max_position_embeddings": 64, "max_length": 32,
	} {
		config[name] = value
	}
	if raw, err = json.Marshal(config); err != nil {
		return nil, err
	}
	settings := dir + ".json"
	if err := os.WriteFile(settings, raw, 0o644); err != nil {
		return nil, err
	}
	if err := inRepository("go", "run", "./scripts/random_checkpoint", "--out", dir, "--config", settings, "--dtype", "f16"); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, folder := range map[string]string{
		"config.json": dir, "model.safetensors": dir,
		"vocab.json": bundled, "sentencepiece.bpe.model": bundled, "tokenizer_config.json": bundled,
	} {
		if files[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func inRepository(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = repository
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, args[0], err, out)
	}
	return nil
}

// onGPUs returns the manifests of pods with a GPU. This machine has none.
func onGPUs() (manifests.Set, error) {
	return manifests.ReadFile(filepath.Join(repository, "k8s", "deployment.yaml"))
}

func onCPUs() (manifests.Set, error) {
	return manifests.Build(filepath.Join(repository, "k8s", "overlays", "cpu"))
}

// nodeCache returns the manifests of pods on CPUs that share a folder of the node.
func nodeCache(t *testing.T) (manifests.Set, error) {
	dir := t.TempDir()
	absolute, err := filepath.Abs(filepath.Join(repository, "k8s"))
	if err != nil {
		return nil, err
	}
	k8s, err := filepath.Rel(dir, absolute) // kustomize takes only relative paths
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("resources:\n  - %s/overlays/cpu\ncomponents:\n  - %[1]s/components/node-cache\n", k8s)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		return nil, err
	}
	return manifests.Build(dir)
}
