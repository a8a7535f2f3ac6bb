package engine

import (
	"errors"

	"dragoman/model"
)

// OpenModels opens n models. On error it closes those already open and returns none.
func OpenModels[M model.Model](n int, open func() (M, error)) ([]M, error) {
	var models []M
	for range n {
		m, err := open()
		if err != nil {
			return nil, errors.Join(err, CloseModels(models))
		}
		models = append(models, m)
	}
	return models, nil
}

// CloseModels closes models and returns their joined errors.
func CloseModels[M model.Model](models []M) error {
	var errs []error
	for _, m := range models {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
