package model

// Verify says when the sha256 of a model's files is compared with the manifest.
// Their sizes always are.
type Verify string

const (
	// VerifyChanged reads a file when it is new or was touched since its sum was
	// found right: when its size, inode, time of modification or time of change is
	// another. Every write, copy and replacement through the file system shows. A
	// disk that returns other bytes than were written does not. Where the folder
	// cannot be written nothing is remembered, and all files are read every time.
	VerifyChanged Verify = "changed"
	VerifyAlways  Verify = "always" // reads all files, every time
	VerifyNever   Verify = "never"  // compares the sizes only
)
