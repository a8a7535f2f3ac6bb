package model

import "errors"

// ErrInput means that a batch was given what the model cannot take, such as a
// token outside of the vocabulary or more rows than there is room for.
var ErrInput = errors.New("input that the model cannot take")
