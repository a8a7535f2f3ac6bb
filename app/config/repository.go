package config

import (
	"errors"
	"fmt"
	"strings"
)

// validateRepositories names what of MODEL_REPOSITORY does not fit.
func (c Config) validateRepositories() (errs []error) {
	for _, dir := range c.Repositories {
		if strings.TrimSpace(dir) == "" {
			return []error{fmt.Errorf("MODEL_REPOSITORY=%q: use folders with commas between, such as /models,/more", strings.Join(c.Repositories, ","))}
		}
	}
	return nil
}

// CheckServe says what a service cannot do at once. A pull can: it takes a model into a
// repository.
func (c Config) CheckServe() error {
	if len(c.Repositories) > 0 && c.Weights != "" {
		return oneLine([]error{errors.New("MODEL_REPOSITORY and MODEL_WEIGHTS are both set: unset one, " +
			"and use `dragoman pull MODEL --repository DIR --name NAME` to add a model to a repository")})
	}
	return nil
}
