#!/usr/bin/env bash
# Tries an image's root, as scripts/image/test.sh starts it: as root, in a mount
# and a network namespace of its own:
#
#   unshare --mount --net scripts/image/try.sh root image.json version
#
# image.json is what `buildah inspect` says of the image, version what the program
# in it should say of itself. The first thing that is wrong ends it.
set -euo pipefail

root=$1 config=$2 version=$3
scratch=$(mktemp -d)
engine="" service="" # the processes that serve starts
# cleanup ends the service where a check did not.
cleanup() {
  [[ -z $engine ]] || kill -KILL $(pgrep -P "$engine") "$engine" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT
address=http://127.0.0.1:9527

# die prints the service's output, then an error in one line, and exits.
die() {
  [[ ! -s $scratch/log ]] || sed 's/^/  service: /' "$scratch/log" >&2
  echo "try: $*" >&2
  exit 1
}

# ok reports a successful check.
ok() { echo "ok: $*"; }

# setting prints one of the image's settings, a line for each of its elements.
setting() { jq -r "$1 // empty | if type == \"array\" then .[] else . end" "$config"; }

mapfile -t environment < <(setting .OCIv1.config.Env)
mapfile -t command < <(setting '(.OCIv1.config.Entrypoint + .OCIv1.config.Cmd)')
mapfile -t healthcheck < <(setting .Docker.config.Healthcheck.Test)
user=$(setting .OCIv1.config.User)

# ---- what the configuration says ----
[[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || die "the user is \"$user\": Kubernetes can only tell a number above 0 from root"
[[ $(setting '.OCIv1.config.ExposedPorts | keys') == $'8001/tcp\n9527/tcp' ]] || die "the ports 9527 and 8001 are not exposed, or others are"
[[ $(setting .Docker.config.StopSignal) == SIGTERM ]] || die "the stop signal is not SIGTERM"
[[ ${healthcheck[0]:-} == CMD ]] || die "the health check needs a shell, or there is none: ${healthcheck[*]:-}"
for label in title description version revision licenses; do
  [[ -n $(setting ".OCIv1.config.Labels[\"org.opencontainers.image.$label\"]") ]] || die "the label $label is missing"
done
[[ $(setting '.OCIv1.config.Labels["org.opencontainers.image.version"]') == "$version" ]] || die "the label version is not $version"
ok "configuration: user $user, ${command[*]}; health check: ${healthcheck[*]:1}"

# ---- what the files are ----
if [[ ${TARGET:-cpu} == cpu ]]; then # NVIDIA's base has both
  shells=$(find "$root" -xdev \( -name sh -o -name bash -o -name dash -o -name ash -o -name busybox -o -name zsh -o -name perl \) ! -type d)
  [[ -z $shells ]] || die "there is a shell: $shells"
  special=$(find "$root" -xdev -type f -perm /6000)
  [[ -z $special ]] || die "files that give rights away: $special"
fi
writable=$(find "$root" -xdev \( -uid "${user%:*}" -o -perm -o+w \) ! -type l ! -path "$root/models" ! -path "$root/data" ! -path "$root/home/nonroot" \
  ! -path "$root/tmp" ! -path "$root/var/tmp" ! -path "$root/run/lock" ! -path "$root/var/lock")
[[ -z $writable ]] || die "the service could write to $writable"
for file in dragoman/{LICENSE,NOTICE,MODEL_CARD.md,licenses/go/LICENSE} onnxruntime/{LICENSE,ThirdPartyNotices}.txt; do
  [[ -s $root/usr/share/doc/$file ]] || die "/usr/share/doc/$file is missing"
done
secrets=$(find "$root" -xdev \( -path '*/run/secrets/*' -o -name pip.conf -o -name .npmrc -o -path '*/go/env' \) -type f)
[[ -z $secrets ]] || die "secrets of the build are in the image: $secrets"
ok "files: no shell, no setuid, nothing the service could write to but /models and /data, licences there"

# ---- a machine that is as little as an engine gives a container ----
ip link set lo up
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=0755,size=64k tmpfs "$root/dev"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
! touch "$root/try" 2>/dev/null || die "the root is not read-only"

# inside runs a command in the image's root, as its user and with its environment;
# what comes before -- is added to the environment.
inside() {
  local added=()
  while [[ $1 != -- ]]; do
    added+=("$1")
    shift
  done
  shift
  # Process number 1 in a namespace of its own, as in a container: it is only
  # sent the signals that it handles.
  exec unshare --pid --fork --kill-child --mount-proc="$root/proc" "$(command -v setpriv)" --no-new-privs \
    "$(command -v env)" --ignore-environment "${environment[@]}" "${added[@]}" \
    "$(command -v chroot)" --userspec="$user" --groups="${user#*:}" "$root" "$@"
}

now() { date +%s%3N; }

# serve starts the service and waits until it is ready: $engine is the process that
# waits for it, $service its own, $took the milliseconds that it took.
serve() {
  local start
  start=$(now)
  (inside "$@" -- "${command[@]}") >"$scratch/log" 2>&1 &
  engine=$!
  until curl -fs -o "$scratch/ready" "$address/readyz"; do
    kill -0 "$engine" 2>/dev/null || die "the service ended"
    (($(now) - start < 60000)) || die "the service was not ready within 60 s"
    sleep 0.05
  done
  took=$(($(now) - start))
  service=$(pgrep -P "$engine")
}

# stop sends SIGTERM and wants the service to end well.
stop() {
  local start status=0
  start=$(now)
  kill -TERM "$service"
  wait "$engine" || status=$?
  ((status == 0)) || die "after SIGTERM the service ended with $status"
  engine="" service=""
  took=$(($(now) - start))
}

# quiet checks that the log has no warnings and errors.
quiet() { ! grep -E 'level=(WARN|ERROR)' "$scratch/log" || die "the service complains"; }

# translates wants the service to translate a sentence.
translates() {
  local answer want='{"result":[{"id":"1","text":"Où est la gare ?"}]}'
  answer=$(curl -fsS "$address/translation" -H 'Content-Type: application/json' \
    -d '{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"Where is the station?"}]}}')
  [[ $answer == "$want" ]] || die "the translation is $answer, not $want"
}

# ---- the bundled model, on a root where nothing can be written ----
(inside -- "${healthcheck[@]:1}") >"$scratch/health" 2>&1 && die "the health check passes where nothing runs"
ok "health check before the start: $(cat "$scratch/health")"

serve
ok "ready $took ms after the start, with a read-only root, no volume and no network"
awk -v want="${user%:*}" '/^Uid:/ { exit !($2 == want && $3 == want && $4 == want && $5 == want) }' "/proc/$service/status" ||
  die "the service runs as $(grep ^Uid: "/proc/$service/status")"
awk '/^Cap(Eff|Prm):/ && $2 !~ /^0+$/ { bad = 1 } END { exit bad }' "/proc/$service/status" || die "the service has capabilities"
awk '/^NSpid:/ { exit $NF != 1 }' "/proc/$service/status" || die "the service is not process 1"
ok "runs as user ${user%:*}, without capabilities, as process 1"
translates
ok "POST /translation answers"
[[ $(curl -fsS "$address/" | jq -r .version) == "$version" ]] || die "GET / does not say version $version: $(curl -fsS "$address/")"
(inside -- "${healthcheck[@]:1}") >"$scratch/health" 2>&1 || die "the health check fails: $(cat "$scratch/health")"
(inside -- "${healthcheck[@]:1}" --live) >>"$scratch/health" 2>&1 || die "the check for life fails: $(cat "$scratch/health")"
ok "health checks: $(tr '\n' ' ' <"$scratch/health")"
quiet
for what in jobs glossaries; do
  grep -q "level=INFO msg=\"there are no $what: " "$scratch/log" || die "the service does not say that there are no $what"
  [[ $(curl -s -o "$scratch/refused" -w '%{http_code}' "$address/$what") == 503 ]] || die "$what: $(cat "$scratch/refused")"
done
ok "without a volume there are no jobs and no glossaries, and the log says so once"
stop
ok "SIGTERM: exit status 0 after $took ms"

serve
((took < 5000)) || die "the second start took $took ms"
ok "second start: ready after $took ms"
stop

# ---- the image's volumes, as an engine makes them ----
[[ $(setting '.OCIv1.config.Volumes | keys' | tr '\n' ' ') == "/data /models " ]] || die "the volumes are not /data and /models"
for folder in /data /models; do
  mount -t tmpfs -o "mode=0700,uid=${user%:*},gid=${user#*:},size=512m" tmpfs "$root$folder"
done
serve
id=$(curl -fsS "$address/documents" -F 'file=@-;filename=question.txt' -F fromLang=en -F toLang=fr <<<'Where is the station?' | jq -r .job.id)
curl -fsS "$address/jobs/$id/events" >"$scratch/events"
glossary=$(curl -fsS "$address/glossaries?name=Trial&from=en&to=fr" -H 'Content-Type: text/csv' -d station,gare | jq -r .glossary.id)
stop
serve
quiet
[[ $(curl -fsS "$address/documents/$id/result") == 'Où est la gare ?' ]] || die "the document is $(curl -sS "$address/documents/$id/result")"
curl -fsS "$address/glossaries/$glossary" >/dev/null || die "the glossary is gone"
stop
ok "with its volumes it has jobs, documents and glossaries, also after a restart"

# ---- another model, in a volume; and an init container that prepares it ----
pull=("${command[0]}" pull)
(inside MODEL_WEIGHTS= -- "${pull[@]}") >"$scratch/folder" 2>"$scratch/log" || die "pull fails"
folder=$(cat "$scratch/folder")
[[ $folder == /models/* && -s $root$folder/dragoman.json ]] || die "pull exported to $folder, not into the volume"
before=$(stat -c %Y%y "$root$folder/weights.bin")
(inside MODEL_WEIGHTS= -- "${pull[@]}") >"$scratch/folder" 2>"$scratch/log" || die "pull fails the second time"
[[ $(stat -c %Y%y "$root$folder/weights.bin") == "$before" ]] || die "pull did its work again"
mount -o remount,ro "$root/models"
serve "MODEL_WEIGHTS=$folder"
translates
stop
ok "pull into /models, once, and a service on that volume, which it may only read"
