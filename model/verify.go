package model

// Verify selects when the sha256 of a model's files is compared with the manifest. Their sizes are always compared.
type Verify string

const (
	// VerifyChanged reads a file if it is new or has changed since its checksum was right: its size, inode, time of modification
	// or time of change differs. So VerifyChanged notices every write, copy and replacement through the file system, but not
	// wrong bytes from a failing disk. If the folder cannot be written, nothing is recorded, and all files are read every time.
	VerifyChanged Verify = "changed"
	VerifyAlways  Verify = "always" // reads all files, every time
	VerifyNever   Verify = "never"  // compares the sizes only
)
