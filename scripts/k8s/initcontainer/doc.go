// Package initcontainer runs the containers of the manifests' pods for real, as far as
// that goes without a cluster: the program that is built from this repository, with the
// arguments, the environment, the user and the volumes that the manifests give it, and a
// Hugging Face hub of this machine. Its tests kill containers in the middle, start them
// again, and translate.
package initcontainer
