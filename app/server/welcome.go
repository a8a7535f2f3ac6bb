package server

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/pbnjay/memory"

	"dragoman/app/api/httpapi"
	"dragoman/app/cli"
	"dragoman/model/bundled"
)

// welcome tells a user who starts the program by hand without a model the address of the service, and how to get a model.
func (s *server) welcome(t *translation) {
	if s.loader.cfg.LogFormat == "json" || !cli.IsTerminal(s.loader.stderr) || !onlyBundled(modelsOf(t.catalog)) {
		return
	}
	fmt.Fprint(s.loader.lines, welcomeText(s.url(), t.catalog.Languages(), memory.TotalMemory(), runtime.NumCPU(), os.Args[0], runtime.GOOS))
}

// onlyBundled reports whether only the model for demonstration is served.
func onlyBundled(models []httpapi.Model) bool {
	return len(models) > 0 && !slices.ContainsFunc(models, func(m httpapi.Model) bool { return m.Source != bundled.Source })
}

// url returns the address of the service for a browser on this machine.
func (s *server) url() string {
	scheme := "http"
	if s.tls != nil {
		scheme = "https"
	}
	address := s.listener.Addr().(*net.TCPAddr)
	host := "localhost"
	if !address.IP.IsUnspecified() && !address.IP.IsLoopback() {
		host = address.IP.String()
	}
	return fmt.Sprintf("%s://%s", scheme, net.JoinHostPort(host, fmt.Sprint(address.Port)))
}

// startedAs returns the command that serves a model, in the syntax of the usual shell of a system.
func startedAs(program, system, model string) string {
	if system == "windows" {
		return `$env:MODEL_WEIGHTS="` + model + `"; ` + program
	}
	return "MODEL_WEIGHTS=" + model + " " + program
}

// welcomeText returns three lines; memory is the machine's in bytes, 0 if unknown, and cores its number of cores.
func welcomeText(url string, languages []string, memory uint64, cores int, program, system string) string {
	command, size := realModel(memory, cores, program, system)
	return fmt.Sprintf(`
Open %s in a browser, or POST to %[1]s/translation: it translates between %s.
This is a small demonstration model for everyday sentences: do not judge the quality of translations by it.
For a real model that suits this machine (a download of %s), press Ctrl+C and run: %s
`, url, strings.Join(languages, ", "), size, command)
}

// realModel returns the command that serves the largest of the recommended models that runs well on a machine, and the size of its
// download.
func realModel(memory uint64, cores int, program, system string) (command, download string) {
	const gib = 1 << 30
	switch {
	case memory != 0 && memory < 3*gib || cores < 2:
		return program + " serve --models firefox", "some 40 MB for each pair of languages that is asked for"
	case memory < 15*gib || cores < 8:
		return startedAs(program, system, "facebook/m2m100_418M"), "1.9 GB, for 100 languages"
	}
	return startedAs(program, system, "facebook/m2m100_1.2B"), "5 GB, for 100 languages"
}
