# dragoman as a container image. Targets:
#
#   cpu    (default) on a base that has no shell and no package manager
#   cuda   on NVIDIA's CUDA runtime, with ONNX Runtime's CUDA provider
#
# scripts/image/build.sh builds them with docker, podman or buildah, whichever is
# there; scripts/image/test.sh builds and tries the cpu target without any engine.
#
# The base images are arguments: name a mirror, or another digest, to have others.
# scripts/image/test.sh reads their names from here. The digests are those of images for all platforms;
# "docker buildx imagetools inspect NAME:TAG" shows the newest one, which a release should have.
ARG GO_IMAGE=docker.io/library/golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-bookworm@sha256:ed86c82274b3c69b52fb5820f358f0bd7df0b603332063cb5c6e32bd220c3e6e
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
# ONNX Runtime's CUDA provider is linked with CUDA 13 and cuDNN 9: an image with CUDA 12 needs
# another package in scripts/image/onnxruntime-cuda.txt.
ARG CUDA_IMAGE=docker.io/nvidia/cuda:13.1.1-cudnn-runtime-ubuntu24.04

# Steps that use the network take three optional secrets, which leave nothing in the
# image: ca (a file of CA certificates), env (a file of shell assignments, such as
# GOPROXY=...) and pip (a pip.conf); scripts/image/secrets.sh. HTTP_PROXY and the like are
# build arguments that every engine knows.

# ---- the program, the bundled model and the licences ----
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum LICENSE NOTICE ./
COPY app app
COPY model model
COPY tokenizer tokenizer
COPY scripts/image/licenses.sh scripts/image/secrets.sh scripts/image/
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    --mount=type=secret,id=ca --mount=type=secret,id=env \
    set -eu; . scripts/image/secrets.sh; \
    export CGO_ENABLED=1; \
    go build -trimpath -tags nomsgpack,grpcnotrace -ldflags "-s -w -X main.version=${VERSION}" -o /out/program/usr/local/bin/dragoman ./app; \
    scripts/image/licenses.sh /out/licenses/usr/share/doc/dragoman
# The bundled model is exported here, so that a container needs no folder to write to.
# /models is there for other models, /data for jobs and glossaries; both belong to the user that
# the service runs as.
RUN set -eu; \
    /out/program/usr/local/bin/dragoman pull --out /out/model/usr/local/share/dragoman/bundled; \
    rm -f /out/model/usr/local/share/dragoman/bundled/.dragoman.*; \
    mkdir -p /out/volumes/models /out/volumes/data; \
    chmod -R u=rwX,go=rX /out

# ---- ONNX Runtime for CPUs ----
FROM ${PYTHON_IMAGE} AS onnxruntime
WORKDIR /src
COPY scripts/fetch_onnxruntime.sh scripts/
COPY scripts/image/secrets.sh scripts/image/
RUN --mount=type=cache,target=/root/.cache/pip \
    --mount=type=secret,id=ca --mount=type=secret,id=env --mount=type=secret,id=pip \
    set -eu; . scripts/image/secrets.sh; \
    scripts/fetch_onnxruntime.sh /tmp/onnxruntime; \
    mkdir -p /out/usr/local/lib /out/usr/share/doc/onnxruntime; \
    mv /tmp/onnxruntime/*.so /out/usr/local/lib; \
    find /tmp/onnxruntime -name '*.txt' -exec mv {} /out/usr/share/doc/onnxruntime ';'; \
    chmod -R u=rwX,go=rX /out

# ---- fonts for translated PDFs ----
FROM ${PYTHON_IMAGE} AS fonts
RUN --mount=type=secret,id=ca --mount=type=secret,id=env \
    set -eu; \
    apt-get update; \
    apt-get install -y --no-install-recommends fonts-dejavu-core fonts-droid-fallback fonts-liberation; \
    mkdir -p /out/usr/share/doc; \
    cp -R /usr/share/fonts /out/usr/share/; \
    cp -RL /usr/share/doc/fonts-* /out/usr/share/doc/; \
    chmod -R u=rwX,go=rX /out

# ---- ONNX Runtime for NVIDIA's GPUs ----
FROM ${PYTHON_IMAGE} AS onnxruntime-cuda
WORKDIR /src
COPY scripts/image/fetch_onnxruntime_cuda.sh scripts/image/onnxruntime-cuda.txt scripts/image/secrets.sh scripts/image/
RUN --mount=type=cache,target=/root/.cache/pip \
    --mount=type=secret,id=ca --mount=type=secret,id=env --mount=type=secret,id=pip \
    set -eu; . scripts/image/secrets.sh; \
    scripts/image/fetch_onnxruntime_cuda.sh /tmp/onnxruntime; \
    mkdir -p /out/usr/local/lib /out/usr/share/doc/onnxruntime; \
    mv /tmp/onnxruntime/*.so /out/usr/local/lib; \
    mv /tmp/onnxruntime/*.txt /out/usr/share/doc/onnxruntime; \
    chmod -R u=rwX,go=rX /out

# ---- the image for NVIDIA's GPUs ----
# With DEVICE=auto it runs on the CPU where the container was given no GPU.
FROM ${CUDA_IMAGE} AS cuda
COPY --from=onnxruntime-cuda /out/ /
COPY --from=fonts /out/ /
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/model/ /
COPY --from=build --chown=65532:65532 /out/volumes/ /
COPY --from=build /out/licenses/ /
COPY --from=build /out/program/ /
ENV DEVICE=auto \
    MODEL_WEIGHTS=/usr/local/share/dragoman/bundled \
    XDG_CACHE_HOME=/models \
    XDG_DATA_HOME=/data
USER 65532:65532
VOLUME ["/models", "/data"]
EXPOSE 9527 8001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30m CMD ["/usr/local/bin/dragoman", "health"]
ENTRYPOINT ["/usr/local/bin/dragoman"]
CMD ["serve"]
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="dragoman" \
      org.opencontainers.image.description="Translation service for M2M100 models, with CUDA libraries" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"

# ---- the image for CPUs ----
# Layers that change least come first, so that an update fetches the program only.
# The health check has half an hour until it counts: a real model is fetched and
# exported at the first start, unless a volume has it.
FROM ${RUNTIME_IMAGE} AS cpu
COPY --from=onnxruntime /out/ /
COPY --from=fonts /out/ /
COPY --from=build /out/model/ /
COPY --from=build --chown=65532:65532 /out/volumes/ /
COPY --from=build /out/licenses/ /
COPY --from=build /out/program/ /
# MODEL_WEIGHTS is the bundled model, exported above: without a volume nothing is written
# anywhere, and there are no jobs and no glossaries, which are kept in /data. Models that are named
# instead are exported to folders of their own below /models.
ENV MODEL_WEIGHTS=/usr/local/share/dragoman/bundled \
    XDG_CACHE_HOME=/models \
    XDG_DATA_HOME=/data
USER 65532:65532
VOLUME ["/models", "/data"]
EXPOSE 9527 8001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30m CMD ["/usr/local/bin/dragoman", "health"]
ENTRYPOINT ["/usr/local/bin/dragoman"]
CMD ["serve"]
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="dragoman" \
      org.opencontainers.image.description="Translation service for M2M100 models" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
