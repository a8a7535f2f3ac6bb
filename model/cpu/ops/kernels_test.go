package ops_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/x448/float16"
	"golang.org/x/sys/cpu"
)

// kernels is the compiled testdata/kernels.c.
type kernels string

// build compiles the kernels with the compiler that cgo uses.
func build(t *testing.T, flags ...string) kernels { return buildFrom(t, "kernels.c", flags...) }

// buildFrom compiles a program of testdata.
func buildFrom(t *testing.T, source string, flags ...string) kernels {
	t.Helper()
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Skip("no Go tool: ", err)
	}
	compiler := strings.Fields(string(cc))
	if _, err := exec.LookPath(compiler[0]); err != nil {
		t.Skip("no C compiler: ", err)
	}
	binary := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c"))
	args := append(compiler[1:], "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-o", binary)
	args = append(append(args, flags...), filepath.Join("testdata", source), "-lm")
	out, err := exec.Command(compiler[0], args...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "cannot find") {
		t.Skipf("no libraries for %v: %s", flags, out)
	}
	require.NoError(t, err, string(out))
	return kernels(binary)
}

// generation returns the compiler flag of this CPU's generation.
func generation() string {
	switch {
	case runtime.GOARCH != "amd64":
		return "-O3"
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512CD:
		return "-march=x86-64-v4"
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2:
		return "-march=x86-64-v3"
	default:
		return "-march=x86-64"
	}
}

// emulator returns the command that runs programs on an emulated CPU (scripts/other_cpu_test.sh). Without it, programs would run
// on the real CPU.
func emulator() []string { return strings.Fields(os.Getenv("DRAGOMAN_EMULATOR")) }

// command returns the command that runs the kernels.
func (k kernels) command(args ...string) *exec.Cmd {
	command := append(append(emulator(), string(k)), args...)
	return exec.Command(command[0], command[1:]...)
}

// run runs the kernels on values and reads their output.
func run[Out, In float32 | uint16](t *testing.T, k kernels, what string, values []In) []Out {
	t.Helper()
	var input, output, errors bytes.Buffer
	require.NoError(t, binary.Write(&input, binary.NativeEndian, values))
	cmd := k.command(what)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &input, &output, &errors
	require.NoError(t, cmd.Run(), errors.String())
	if len(emulator()) == 0 { // they report instructions that they do not emulate
		require.Empty(t, errors.String())
	}
	out := make([]Out, output.Len()/binary.Size(Out(0)))
	require.NoError(t, binary.Read(&output, binary.NativeEndian, out))
	return out
}

func TestKernels(t *testing.T) {
	t.Parallel()
	oldest := "-O2"
	if runtime.GOARCH == "amd64" {
		oldest = "-march=x86-64"
	}
	old, best := build(t, "-O2", oldest), build(t, "-O2", generation())
	for name, k := range map[string]kernels{"oldest": old, "this": best} {
		t.Run(name, func(t *testing.T) {
			t.Run("exp", func(t *testing.T) { testExp(t, k) })
			t.Run("halves to floats", func(t *testing.T) { testFromHalf(t, k) })
			t.Run("floats to halves", func(t *testing.T) { testToHalf(t, k) })
		})
	}
	t.Run("generations", func(t *testing.T) {
		testGenerations(t, old, best)
		if generation() == "-march=x86-64-v4" {
			testGenerations(t, old, build(t, "-O2", "-march=x86-64-v3"))
		}
	})
}

// The kernels do not read or write out of bounds, and have no undefined behaviour.
func TestSanitizers(t *testing.T) {
	t.Parallel()
	k := build(t, sanitizers(t)...)
	require.NotEmpty(t, run[float32, float32](t, k, "all", nil))
}

// sanitizers returns the flags for a build with checks of memory and arithmetic. Such a build takes half a minute, so only make
// race-test uses it.
func sanitizers(t *testing.T) []string {
	if testing.Short() {
		t.Skip("make race-test builds with sanitizers")
	}
	if strings.HasPrefix(os.Getenv("DRAGOMAN_EMULATOR"), "qemu-x86_64") {
		t.Skip("AddressSanitizer does not come to an end in qemu-x86_64")
	}
	return []string{"-Og", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
}

// Every generation of CPUs computes the same within rounding: results differ only by fused multiply-adds.
func testGenerations(t *testing.T, old, best kernels) {
	want, got := run[float32, float32](t, old, "all", nil), run[float32, float32](t, best, "all", nil)
	require.Len(t, got, len(want))
	require.Greater(t, len(want), 10000)
	for i := range want {
		requireNear(t, float64(want[i]), got[i], 1e-4*(1+math.Abs(float64(want[i]))), "result", i)
	}
}

func testExp(t *testing.T, k kernels) {
	var x []float32
	for v := -87.0; v <= 88; v += 175.0 / (1 << 20) {
		x = append(x, float32(v))
	}
	edges := []float32{0, minus, tiny, -tiny, -87, 88, -87.00001, -88, -1000, -huge, -inf, nan}
	x = append(x, edges...)
	x = append(x, make([]float32, 16-len(x)%16)...)
	got, worst := run[float32](t, k, "exp", x), 0.0
	for i, v := range x {
		want := math.Exp(float64(v))
		switch {
		case v != v:
			assert.True(t, math.IsNaN(float64(got[i])))
		case v < -87:
			assert.Zero(t, got[i], v)
		default:
			unit := math.Ldexp(1, math.Ilogb(want)-23)
			worst = max(worst, math.Abs(float64(got[i])-want)/unit)
		}
	}
	t.Logf("error of up to %.2f units in the last place", worst)
	assert.Less(t, worst, 2.0)
}

func testFromHalf(t *testing.T, k kernels) {
	var all []uint16
	for h := range 1 << 16 {
		all = append(all, uint16(h))
	}
	got := run[float32](t, k, "from_half", all)
	var finite []uint16
	var values []float32
	for i, h := range all {
		if h&0x7c00 != 0x7c00 { // infinities are never written
			if math.Float32bits(got[2*i]) != math.Float32bits(got[2*i+1]) {
				t.Fatalf("%#x becomes %g alone and %g in a vector", h, got[2*i], got[2*i+1])
			}
			if want := float16.Frombits(h).Float32(); math.Float32bits(want) != math.Float32bits(got[2*i]) {
				t.Fatalf("%#x becomes %g, not %g", h, got[2*i], want)
			}
			finite, values = append(finite, h), append(values, got[2*i])
		}
	}
	require.Equal(t, finite, run[uint16](t, k, "to_half", values), "there and back")
}

func testToHalf(t *testing.T, k kernels) {
	x := []float32{zero, minus, inf, -inf, 65504, 65519.996, 65520, -1e9, math.MaxFloat32, 0x1p-24, 0x1p-25, 0x1.000002p-25, 0x1p-149}
	for h := range uint16(0x7bff) { // halfway between two neighbours, and next to halfway
		middle := (float16.Frombits(h).Float32() + float16.Frombits(h+1).Float32()) / 2
		x = append(x, middle, -middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, inf))
	}
	r := random(1)
	for range 1 << 18 {
		x = append(x, math.Float32frombits(r.Uint32()))
	}
	got := run[uint16](t, k, "to_half", x)
	for i, v := range x {
		want := float16.Fromfloat32(v)
		if v != v || want.IsInf(0) { // the largest half, of the same sign
			want = float16.Frombits(want.Bits()&0x8000 | 0x7bff)
		}
		if want.Bits() != got[i] {
			t.Fatalf("%g (%#x) becomes %#x, not %#x", v, math.Float32bits(v), got[i], want.Bits())
		}
	}
}
