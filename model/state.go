package model

import (
	"io/fs"
	"os"
)

// State is the file system's state of a file. The state changes when the file is written or replaced.
type State struct {
	Size     int64  `json:"size"`
	Inode    uint64 `json:"inode"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Changed  int64  `json:"changed"`  // time of change of the inode, which programs cannot reset
}

// StateOf returns the state of a file, and its mode.
func StateOf(path string) (State, fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return State{}, 0, err
	}
	s := State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s.Inode, s.Changed, err = inode(path, info)
	return s, info.Mode(), err
}
