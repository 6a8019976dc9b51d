# Terminus in a container: the image, and a release built apart from this machine.
#
#   make image              the image, with every label
#   make release-container  the artefacts of a release, into build/dist-container
#   docker build .          the image of the working tree; the labels that name the commit stay empty
#
# docs/container.md says how the image is used.

# The toolchain. A tag may be moved: where the registry can be asked, pin what it answers as
# well, --build-arg BASE=docker.io/library/golang:1.26.8-bookworm@sha256:DIGEST.
# Another base needs Go of that version in /usr/local/go, git, make and CA certificates.
ARG BASE=docker.io/library/golang:1.26.8-bookworm

FROM --platform=$BUILDPLATFORM $BASE AS build
ARG TARGETOS
ARG TARGETARCH
ARG GOPROXY=https://proxy.golang.org,direct
# Empty, they are what git says of /src.
ARG VERSION
ARG COMMIT
ARG COMMIT_DATE
# The flags of goreleaser.yaml, so that the binary is that of the archives, byte for byte.
ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    GOTOOLCHAIN=local GOFLAGS=-buildvcs=false GOCACHE=/cache/build GOMODCACHE=/cache/modules
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/cache \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make build BUILD=/out \
      ${VERSION:+VERSION="$VERSION"} ${COMMIT:+COMMIT="$COMMIT"} ${COMMIT_DATE:+COMMIT_DATE="$COMMIT_DATE"} && \
    install -D -m 0755 /out/terminus /rootfs/usr/bin/terminus && \
    install -D -m 0644 LICENSE /rootfs/usr/share/doc/terminus/copyright && \
    install -d -m 1777 /rootfs/tmp && \
    install -d -m 0700 -o 65532 -g 65532 /rootfs/home/terminus

FROM build AS release
ARG GOPROXY=https://proxy.golang.org,direct
ARG VERSION
RUN --mount=type=cache,target=/cache \
    make release-snapshot TOOLS=/tools ${VERSION:+VERSION="$VERSION"}

# What `make release-container` puts out.
FROM scratch AS artefacts
COPY --from=release /src/build/dist /

FROM scratch
ARG VERSION
ARG COMMIT
ARG COMMIT_DATE
LABEL org.opencontainers.image.title="terminus" \
      org.opencontainers.image.description="Keep every coding-agent session, and find any turn of it" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.vendor="Terminus" \
      org.opencontainers.image.url="https://github.com/terminus-archive/terminus" \
      org.opencontainers.image.source="https://github.com/terminus-archive/terminus" \
      org.opencontainers.image.documentation="https://github.com/terminus-archive/terminus/blob/main/docs/container.md" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.created="$COMMIT_DATE"
# One layer of files; /tmp is for SQLite, which sorts there what does not fit into memory.
COPY --from=build /rootfs/ /
# A number, so that an orchestrator sees that it is not root. A home of one's own is mounted, and named by HOME.
ENV HOME=/home/terminus
USER 65532:65532
ENTRYPOINT ["/usr/bin/terminus"]
