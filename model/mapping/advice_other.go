//go:build !linux

package mapping

import "os"

// There is no counterpart of Linux's advice here.

func inHugePages([]byte) {}
func fetch([]byte)       {}

// Forget does nothing.
func Forget(*os.File) {}
