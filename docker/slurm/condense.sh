#!/usr/bin/env bash
# A scheduler, workers on all nodes of the job, and `herald condense` with them; everything ends with it.
#   sbatch docker/slurm/condense.sh --edges edges --features nodes --ratio 0.01 --output small.herald
#   sbatch --gpus-per-node=4 docker/slurm/condense.sh ...     # a worker for each GPU
# Options are those of `herald condense`; files must be where every node sees them. A job that was preempted or requeued
# goes on from the partial results in RESUME.
#   WORKERS_PER_NODE   without GPUs (default 4)
#   RESUME             folder of partial results (default herald-run)
#   WAIT               seconds for the workers to come up (default 300)
#SBATCH --job-name=herald
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -euo pipefail

nodes="${SLURM_JOB_NUM_NODES:?this is a job script: hand it to sbatch}"
memory="${SLURM_MEM_PER_NODE:?pass --mem to sbatch, so that workers know what they may take}"
# Steps do not take this from the job by themselves.
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"
# Of this attempt alone: a file of an earlier one names a scheduler that is gone.
scheduler="$PWD/scheduler-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}.json"

each="${SLURM_GPUS_ON_NODE:-0}"
backend=rapids
if [[ "$each" -eq 0 ]]; then
    each="${WORKERS_PER_NODE:-4}"
    backend=cpu
fi
limit="$((memory * 9 / 10 / each))MiB"
scratch="${TMPDIR:-/tmp}"

steps=()
end() {
    status=$?
    kill "${steps[@]}" 2>/dev/null || true
    wait
    rm -f "$scheduler"
    exit "$status"
}
trap end EXIT
trap 'exit 143' TERM

# --overlap: all steps share the CPUs, the memory and the GPUs of the job.
srun --overlap --nodes=1 --ntasks=1 dask scheduler --port 0 --scheduler-file "$scheduler" &
steps+=($!)
if [[ "$backend" == rapids ]]; then
    srun --overlap dask cuda worker --scheduler-file "$scheduler" --nthreads 1 --memory-limit "$limit" \
        --enable-cudf-spill --local-directory "$scratch" --death-timeout 300 &
else
    srun --overlap dask worker --scheduler-file "$scheduler" --nworkers "$each" --nthreads 1 --memory-limit "$limit" \
        --local-directory "$scratch" --death-timeout 300 &
fi
steps+=($!)
srun --overlap --nodes=1 --ntasks=1 herald condense --scheduler "$scheduler" --min-workers "$((nodes * each))" \
    --wait "${WAIT:-300}" --backend "$backend" --resume "${RESUME:-herald-run}" "$@" &
steps+=($!)
# Waited for, not run: so that a signal to the job is heard at once.
wait "${steps[2]}"
