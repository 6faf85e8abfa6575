#!/usr/bin/env bash
# Build the CPU image with buildah, without a Docker engine, and run it. Needs root, buildah and crun; debootstrap where
# no base is given (Debian: apt-get install buildah crun debootstrap).
#   BASE          an image to build on, by name; by default one that debootstrap makes here
#   BASE_TARBALL  its root file system as a tar file, to use instead
#   SUITE         Debian's release, for debootstrap (default trixie)
#   MIRROR        where debootstrap takes it from (default Debian's own)
#   EXTRAS        of the package (default as in Dockerfile.cpu)
#   TAG           name of the image (default herald-gpu:VERSION-cpu)
#   WORK          folder of images and containers (default: a new one, removed at the end)
#   CA_BUNDLE     certificates that pip should trust while building, where a proxy has its own
#   OUTPUT        write the image here, as an archive that `docker load` reads
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version="$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' herald_gpu/_version.py)"
tag="${TAG:-herald-gpu:$version-cpu}"
if [[ -n "${WORK:-}" ]]; then
    mkdir -p "$WORK"
    work="$(cd "$WORK" && pwd)"
else
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
fi

# Chroot isolation and plain folders ask nothing of the kernel that a container or a small machine would refuse.
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
in_store() { buildah --root "$work/storage" --runroot "$work/run" "$@"; }
say() { printf '\n== %s\n' "$*"; }

base="${BASE:-}"
if [[ -z "$base" ]]; then
    tarball="${BASE_TARBALL:-$work/${SUITE:-trixie}.tar}"
    if [[ ! -f "$tarball" ]]; then
        say "a base image of Debian ${SUITE:-trixie}"
        debootstrap --variant=minbase "${SUITE:-trixie}" "$work/rootfs" "${MIRROR:-http://deb.debian.org/debian}" \
            >"$work/debootstrap.log" || { tail "$work/debootstrap.log" >&2; exit 1; }
        tar --create --file "$tarball" --directory "$work/rootfs" --one-file-system .
        rm -rf "$work/rootfs"
    fi
    scratch="$(in_store from scratch)"
    in_store add --quiet "$scratch" "$tarball" / >/dev/null
    in_store commit --quiet --rm "$scratch" herald-base >/dev/null
    base=localhost/herald-base
fi

say "build $tag on $base"
options=(--build-arg "BASE=$base" --build-arg "VERSION=$version")
if revision="$(git rev-parse HEAD 2>/dev/null)"; then
    options+=(--build-arg "REVISION=$revision")
fi
[[ -z "${EXTRAS:-}" ]] || options+=(--build-arg "EXTRAS=$EXTRAS")
if [[ -n "${CA_BUNDLE:-}" ]]; then
    printf '[global]\ncert = /run/build-ca.crt\n' >"$work/pip.conf"
    options+=(--volume "$CA_BUNDLE:/run/build-ca.crt:ro" --volume "$work/pip.conf:/etc/pip.conf:ro")
fi
# Docker's format, because OCI's knows no health checks.
in_store build --format docker --pull=never --ignorefile .dockerignore --file docker/Dockerfile.cpu --tag "$tag" \
    "${options[@]}" .
in_store images

say "run it"
container="$(in_store from --pull=never "$tag")"
trap 'in_store rm "$container" >/dev/null; [[ -n "${WORK:-}" ]] || rm -rf "$work"' EXIT
user="$(in_store run "$container" -- id --user)"
[[ "$user" == 1001 ]] || { echo "runs as user $user, not as 1001" >&2; exit 1; }
in_store run "$container" -- touch /home/herald/data/mine /home/herald/.cache/mine
echo "health check: $(in_store inspect --type image --format '{{.Docker.Config.Healthcheck.Test}}' "$tag")"
in_store run "$container" -- herald doctor
in_store run "$container" -- herald demo

say "a scheduler, a worker and a client in it"
in_store run "$container" -- bash -euc '
    python -c "from herald_gpu.datasets import make_graph; edges, nodes = make_graph(300).to_frames(); \
        edges.to_parquet(\"edges.parquet\"); nodes.to_parquet(\"nodes.parquet\")"
    dask scheduler --port 0 --scheduler-file scheduler.json 2>scheduler.log &
    dask worker --scheduler-file scheduler.json --nthreads 1 --memory-limit 2GB 2>worker.log &
    herald condense --edges edges.parquet --features nodes.parquet --ratio 0.1 --scheduler scheduler.json --quiet \
        --output small.herald
    kill %1 %2
    wait
    ls -l small.herald'
in_store run "$container" -- python -m pip list --format=freeze

if [[ -n "${OUTPUT:-}" ]]; then
    say "write $OUTPUT"
    in_store push --quiet "$tag" "docker-archive:$OUTPUT:$tag"
fi
