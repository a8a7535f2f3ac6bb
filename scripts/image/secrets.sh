# shellcheck shell=sh disable=SC1091
# Makes the secrets of an image's build known to Go, pip and OpenSSL. Steps of the
# Dockerfile that use the network read it; without secrets it does nothing. They are
# under /run/secrets only while a step runs, and are never part of a layer.
if [ -f /run/secrets/ca ]; then
  export SSL_CERT_FILE=/run/secrets/ca PIP_CERT=/run/secrets/ca
fi
if [ -f /run/secrets/pip ]; then
  export PIP_CONFIG_FILE=/run/secrets/pip
fi
if [ -f /run/secrets/env ]; then
  set -a
  . /run/secrets/env
  set +a
fi
