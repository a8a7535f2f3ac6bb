package repository

// Single returns a snapshot of one exported folder, as version 1 of the model name. It does not check the sizes of its files. The
// model is loaded at the start and stays loaded.
func Single(name, dir string) (Snapshot, error) {
	e := readExport(dir)
	if e.err != nil {
		return Snapshot{}, e.err
	}
	v := Version{Number: 1, Dir: dir, Served: true, Manifest: e.manifest, Identity: e.identity}
	return Snapshot{
		Models: []Model{{Name: name, Dir: dir, Config: Config{Pinned: true, Preload: true}, Versions: []Version{v}}},
		Order:  []string{name},
	}, nil
}
