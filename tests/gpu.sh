#!/usr/bin/env bash
# The whole suite and the main job on a machine with a GPU, in under 8 minutes, with what is installed there.
#
#   tests/gpu.sh                                            cpu cuda:0 torch:cuda:0 jax:gpu:0
#   ARRAYFLOW_TEST_DEVICES="cpu torch:cpu" tests/gpu.sh     any devices; this way it runs without a GPU
#   PYTHON=python3.12 ARRAYFLOW_LOGS=logs tests/gpu.sh      another interpreter; keep the logs
#
# Every device has a process of its own, all at once; the tests that take no device are one more.
# Packages that are missing are named, and the tests that need them are skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

python=${PYTHON:-python3}
read -ra devices <<<"${ARRAYFLOW_TEST_DEVICES:-cpu cuda:0 torch:cuda:0 jax:gpu:0}"
limit=${ARRAYFLOW_TEST_SECONDS:-450} # for each process
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
logs=${ARRAYFLOW_LOGS:-$work/logs}
mkdir -p "$logs" "$work/path"
began=$SECONDS

has() { "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)"; }

# The one hard dependency beside NumPy: SciPy and scikit-learn carry copies of it.
if [[ -n ${ARRAYFLOW_BUNDLED:-} ]] || ! has array_api_compat; then
    bundled=$("$python" - <<'EOF'
import importlib.util, pathlib, re
found = []
for package in ("scipy", "sklearn"):
    spec = importlib.util.find_spec(package)
    for init in pathlib.Path(spec.origin).parent.glob("*/array_api_compat/__init__.py") if spec else ():
        version = re.search(r"__version__ = ['\"]([\d.]+)", init.read_text())
        found.append((tuple(map(int, version[1].split("."))) if version else (), str(init.parent)))
print(max(found)[1] if found else "")
EOF
)
    if [[ -z $bundled ]]; then
        echo "array_api_compat is not installed, and neither SciPy nor scikit-learn brings a copy." >&2
        exit 2
    fi
    ln -s "$bundled" "$work/path/array_api_compat"
    echo "!! array_api_compat comes from $bundled"
fi
export PYTHONPATH="$PWD:$work/path${PYTHONPATH:+:$PYTHONPATH}"

absent=()
for package in array_api_strict array_api_extra cupy dpnp einops hypothesis importlinter jax ml_dtypes mypy pooch ruff safetensors scipy torch; do
    has "$package" || absent+=("$package")
done
export ARRAYFLOW_TEST_ABSENT="${absent[*]}"
[[ ${#absent[@]} -eq 0 ]] || echo "!! ABSENT, and every test that needs them is skipped: ${absent[*]}"

# Several processes share the cores and the GPU.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-4} XLA_PYTHON_CLIENT_PREALLOCATE=false CI=true PYTHONUNBUFFERED=1
suite=(timeout "$limit" "$python" -m pytest -q -p no:cacheprovider --durations=5 "$@")

declare -A running
start() { # name, command...
    local name=$1
    shift
    ("$@" >"$logs/$name.log" 2>&1) &
    running[$name]=$!
}
start suite-rest env ARRAYFLOW_TEST_PART=rest "${suite[@]}"
for device in "${devices[@]}"; do
    start "suite-${device//:/-}" env ARRAYFLOW_TEST_DEVICES="$device" ARRAYFLOW_TEST_PART=devices "${suite[@]}"
    start "digits-${device//:/-}" env ARRAYFLOW_DEVICE="$device" timeout "$limit" "$python" -m arrayflow.examples.digits
done

failed=0
for name in $(printf '%s\n' "${!running[@]}" | sort); do
    wait "${running[$name]}"
    status=$?
    [[ $status -eq 0 ]] && lines=4 || { lines=40 && failed=1; }
    echo "=== $name: $([[ $status -eq 0 ]] && echo passed || echo "FAILED ($status)")"
    tail -n "$lines" "$logs/$name.log"
done
echo "=== $((SECONDS - began)) s in all; $([[ $failed -eq 0 ]] && echo "everything passed" || echo "SOMETHING FAILED")"
exit $failed
