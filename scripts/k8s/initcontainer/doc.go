// Package initcontainer runs the containers of the manifests' pods, as far as possible without a cluster: the program built from
// this repository, with the arguments, the environment, the user and the volumes of the manifests, and a Hugging Face hub on this
// machine. Its tests kill containers in the middle of their work, start them again, and translate.
package initcontainer
