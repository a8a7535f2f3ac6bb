package model

import "errors"

// ErrInput means that a batch was given what the model cannot take, such as a
// token outside of the vocabulary or more rows than there is room for.
var ErrInput = errors.New("input that the model cannot take")

// ErrLost means that what a model runs on does not work any more, after a fault of a
// GPU: every call of the model fails from now on, and the process must be started anew
// to use that GPU again. Models on others are not affected.
var ErrLost = errors.New("the device is lost")
