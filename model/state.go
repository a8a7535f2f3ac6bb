package model

import (
	"io/fs"
	"os"
)

// State is what a file system says about a file, by which one that was written, or another in its place,
// shows.
type State struct {
	Size     int64  `json:"size"`
	Inode    uint64 `json:"inode"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Changed  int64  `json:"changed"`  // the inode; no program can set this one back
}

// StateOf reads the state of a file, and what kind it is.
func StateOf(path string) (State, fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return State{}, 0, err
	}
	s := State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s.Inode, s.Changed, err = inode(path, info)
	return s, info.Mode(), err
}
