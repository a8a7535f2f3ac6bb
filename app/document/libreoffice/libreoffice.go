// Package libreoffice converts documents of old programs to kinds that can be translated.
package libreoffice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dragoman/app/budget"
	"dragoman/app/document"
)

// Converter has LibreOffice convert .doc and .rtf to .docx, .xls to .xlsx, .ppt to .pptx. One document is converted at a time, in a
// process with a limited time and memory, without macros and without what the document links to. It is safe for concurrent use.
type Converter struct {
	program string
	turn    chan struct{}
	limit   time.Duration
}

// New returns a converter that runs a program, a path or name of soffice. It fails if sh, timeout or the program are not
// installed.
func New(program string) (*Converter, error) {
	for _, needed := range []string{program, "sh", "timeout"} {
		if _, err := exec.LookPath(needed); err != nil {
			return nil, fmt.Errorf("documents of old programs need LibreOffice, sh and timeout: %w", err)
		}
	}
	return &Converter{program, make(chan struct{}, 1), time.Minute}, nil
}

// oldKinds are the documents of old programs: what they become, their media type, and their first bytes.
var oldKinds = []struct{ extension, to, mediaType, start string }{
	{".doc", ".docx", "application/msword", "\xD0\xCF\x11\xE0"},
	{".xls", ".xlsx", "application/vnd.ms-excel", "\xD0\xCF\x11\xE0"},
	{".ppt", ".pptx", "application/vnd.ms-powerpoint", "\xD0\xCF\x11\xE0"},
	{".rtf", ".docx", "application/rtf", `{\rtf`},
	{".doc", ".docx", "application/msword", `{\rtf`},
}

// Becomes returns the extension of the kind that a document of an old program becomes, or "" for other documents. head is the start
// of the document, 8 bytes or all of it. The media type counts without a name.
func Becomes(name, mediaType string, head []byte) string {
	_, to := convertible(name, mediaType, head)
	return to
}

func convertible(name, mediaType string, head []byte) (extension, to string) {
	for _, k := range oldKinds {
		isNamed := strings.EqualFold(filepath.Ext(name), k.extension) || name == "" && mediaType == k.mediaType
		if isNamed && strings.HasPrefix(string(head[:min(len(head), 8)]), k.start) {
			return k.extension, k.to
		}
	}
	return "", ""
}

// To returns the extension of the kind that documents with an extension become, or "".
func To(extension string) string {
	for _, k := range oldKinds {
		if strings.EqualFold(extension, k.extension) {
			return k.to
		}
	}
	return ""
}

// usualName is the name of a document without one.
const usualName = "document"

// Convert returns the converted document and its name, or a document of another kind as it is. It waits for its turn, and fails
// with a [*document.Error] if LibreOffice cannot read the document, or if the result has more than most bytes.
func (l *Converter) Convert(ctx context.Context, name, mediaType string, file []byte, most int64) (newName string, out []byte, err error) {
	extension, to := convertible(name, mediaType, file)
	if to == "" {
		return name, file, nil
	}
	if out, err = l.run(ctx, file, extension, to, most); err != nil {
		return "", nil, err
	}
	if newName = strings.TrimSuffix(name, filepath.Ext(name)) + to; newName == to {
		newName = usualName + to
	}
	return newName, out, nil
}

// run converts a document, in turn.
func (l *Converter) run(ctx context.Context, file []byte, extension, to string, most int64) ([]byte, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	folder, err := os.MkdirTemp("", "dragoman-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	in, out := filepath.Join(folder, "in"+extension), filepath.Join(folder, "in"+to)
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "user"), 0o700), os.WriteFile(filepath.Join(folder, "user", "registrymodifications.xcu"), []byte(restricted), 0o600), os.WriteFile(in, file, 0o600)); err != nil {
		return nil, err
	}
	// timeout ends all processes of its group, and sh limits the memory of each (KiB) and their files (blocks of 512 bytes).
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 4194304 && ulimit -f 2097152 && exec "$@"`, "sh", "timeout", "-k", "1", fmt.Sprint(l.limit.Seconds()),
		l.program, "--headless", "--norestore", "-env:UserInstallation=file://"+folder, "--convert-to", to[1:], "--outdir", folder, in)
	c.Dir, c.Env = folder, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "LC_ALL=C.UTF-8"}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 2 * time.Second
	err = c.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	info, missing := os.Stat(out)
	switch exit, hasRun := errors.AsType[*exec.ExitError](err); {
	case hasRun && exit.ExitCode() == 124:
		return nil, document.Refuse(nil, "LibreOffice did not convert the document in %v: save it as %s", l.limit, to)
	case err != nil && !hasRun:
		return nil, err
	case err != nil, missing != nil:
		return nil, document.Refuse(nil, "LibreOffice cannot read the document: save it as %s, without a password", to)
	case info.Size() > most:
		return nil, document.TooLarge("the document has %d bytes as %s, at most %d are allowed: divide it", info.Size(), to, most)
	}
	if err := budget.Take(ctx, info.Size()); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// Extensions returns the file extensions of documents of old programs, sorted.
func Extensions() (list []string) {
	for _, k := range oldKinds {
		list = append(list, k.extension)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// restricted is the part of LibreOffice's configuration by which documents run no macros and read nothing outside of them.
const restricted = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableActiveContent" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
</oor:items>
`
