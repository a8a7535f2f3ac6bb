package repository

// Single is a snapshot of one exported folder, as version 1 of a model with a name. Its files'
// sizes are not looked at. It is loaded at the start and stays.
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
