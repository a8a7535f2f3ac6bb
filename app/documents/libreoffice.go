package documents

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
	"dragoman/app/fault"
)

// LibreOffice converts documents of old programs to kinds that can be translated: .doc and .rtf to .docx, .xls to .xlsx, .ppt to
// .pptx. One document is converted at a time, in a process with a limited time and memory, without macros and without what the
// document links to. It is safe for concurrent use.
type LibreOffice struct {
	program string
	turn    chan struct{}
	limit   time.Duration
}

// NewLibreOffice returns a converter that runs a program, a path or name of soffice. It fails if sh, timeout or the program are not
// installed.
func NewLibreOffice(program string) (*LibreOffice, error) {
	for _, needed := range []string{program, "sh", "timeout"} {
		if _, err := exec.LookPath(needed); err != nil {
			return nil, fmt.Errorf("documents of old programs need LibreOffice, sh and timeout: %w", err)
		}
	}
	return &LibreOffice{program, make(chan struct{}, 1), time.Minute}, nil
}

// oldKinds are the documents of old programs: what they become, their media type, and their first bytes.
var oldKinds = []struct{ extension, to, mediaType, start string }{
	{".doc", ".docx", "application/msword", "\xD0\xCF\x11\xE0"},
	{".xls", ".xlsx", "application/vnd.ms-excel", "\xD0\xCF\x11\xE0"},
	{".ppt", ".pptx", "application/vnd.ms-powerpoint", "\xD0\xCF\x11\xE0"},
	{".rtf", ".docx", "application/rtf", `{\rtf`},
	{".doc", ".docx", "application/msword", `{\rtf`},
}

// convertible returns the extensions of a document of an old program and of what it becomes, or "".
func convertible(o Order) (extension, to string) {
	for _, k := range oldKinds {
		isNamed := strings.EqualFold(filepath.Ext(o.Name), k.extension) || o.Name == "" && o.MediaType == k.mediaType
		if isNamed && strings.HasPrefix(string(o.File[:min(len(o.File), 8)]), k.start) {
			return k.extension, k.to
		}
	}
	return "", ""
}

// modern returns an order with its document converted if that is of an old program. It waits for its turn, and fails with a
// [*fault.Failure] if LibreOffice cannot read the document.
func (l *LibreOffice) modern(ctx context.Context, o Order, most int64) (Order, error) {
	extension, to := convertible(o)
	if to == "" {
		return o, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return o, context.Cause(ctx)
	}
	folder, err := os.MkdirTemp("", "dragoman-")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(folder)
	in, out := filepath.Join(folder, "in"+extension), filepath.Join(folder, "in"+to)
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "user"), 0o700), os.WriteFile(filepath.Join(folder, "user", "registrymodifications.xcu"), []byte(restricted), 0o600), os.WriteFile(in, o.File, 0o600)); err != nil {
		return o, err
	}
	// timeout ends all processes of its group, and sh limits the memory of each (KiB) and their files (blocks of 512 bytes).
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 4194304 && ulimit -f 2097152 && exec "$@"`, "sh", "timeout", "-k", "1", fmt.Sprint(l.limit.Seconds()),
		l.program, "--headless", "--norestore", "-env:UserInstallation=file://"+folder, "--convert-to", to[1:], "--outdir", folder, in)
	c.Dir, c.Env = folder, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "LC_ALL=C.UTF-8"}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 2 * time.Second
	err = c.Run()
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	info, missing := os.Stat(out)
	switch exit, hasRun := errors.AsType[*exec.ExitError](err); {
	case hasRun && exit.ExitCode() == 124:
		return o, fault.New(fault.BrokenDocument, fileField, "LibreOffice did not convert the document in %v: save it as %s", l.limit, to)
	case err != nil && !hasRun:
		return o, err
	case err != nil, missing != nil:
		return o, fault.New(fault.BrokenDocument, fileField, "LibreOffice cannot read the document: save it as %s, without a password", to)
	case info.Size() > most:
		return o, fault.New(fault.BodyTooLarge, fileField, "the document has %d bytes as %s, at most %d are allowed: divide it", info.Size(), to, most)
	}
	if err := budget.Take(ctx, info.Size()); err != nil {
		return o, err
	}
	if o.File, err = os.ReadFile(out); err != nil {
		return o, err
	}
	if o.Name, o.MediaType = strings.TrimSuffix(o.Name, filepath.Ext(o.Name))+to, ""; o.Name == to {
		o.Name = usualName + to
	}
	return o, nil
}

// OldExtensions returns the file extensions of documents of old programs, sorted.
func OldExtensions() (list []string) {
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
