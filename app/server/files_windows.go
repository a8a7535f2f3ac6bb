package server

func openFiles() uint64 { return 0 } // it has no such limit

func noFiles(error) bool { return false }
