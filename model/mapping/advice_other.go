//go:build !linux

package mapping

import "os"

// There is nothing here that corresponds to Linux's advice.

func inHugePages([]byte) {}
func fetch([]byte)       {}

// Forget does nothing.
func Forget(*os.File) {}
