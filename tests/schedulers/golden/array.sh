#!/bin/bash
#SBATCH --job-name=steptime-mnist_cnn-0
#SBATCH --account=abc
#SBATCH --qos=high
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=8G
#SBATCH --time=20
#SBATCH --no-requeue
#SBATCH --array=0-11%5
#SBATCH --exclusive
# 12 cases, one to a task; on 1 node
# Written by steptime for the site own. Edit it if you like, and submit it again: sbatch script.sh
# Each submission leaves a record of its own in the store, and its log here.

sweep=/store/sweeps/s1
[ -d "$sweep" ] || sweep=$SLURM_SUBMIT_DIR/..  # the store was moved: submit from this folder
cases=(
  mnist_cnn-0
  mnist_cnn-1
  mnist_cnn-2
  mnist_cnn-3
  mnist_cnn-4
  mnist_cnn-5
  mnist_cnn-6
  mnist_cnn-7
  mnist_cnn-8
  mnist_cnn-9
  mnist_cnn-10
  mnist_cnn-11
)
name=${cases[$SLURM_ARRAY_TASK_ID]}
job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
folder=$sweep/$name
try=$folder/try-$job

# steptime's own submissions are known by their names: this one was accepted, unless it has been given up meanwhile.
submission=$sweep/submissions/$SLURM_JOB_NAME
if [ -e "$submission.abandoned" ]; then echo "steptime: this submission was given up"; exit 0; fi
if [ -e "$submission.json" ]; then
  echo "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}" > "$submission.job.$job" && mv "$submission.job.$job" "$submission.job"
fi
mkdir -p "$try" && cp "$folder/job.json" "$try/job.json" || exit 1

# How it ends is written down, whatever happens.
trap 'code=$?; echo "$code" > "$try/exit.part" && mv "$try/exit.part" "$try/exit"' EXIT

# What the job was given, for the record.
export STEPTIME_SITE=own STEPTIME_JOB=$job STEPTIME_GRES=''
export STEPTIME_PARTITION=$SLURM_JOB_PARTITION
export STEPTIME_NODES=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | paste --serial --delimiters=,)
export STEPTIME_QUEUED=$(timeout 10 squeue --noheader --jobs="$SLURM_JOB_ID" --format="%V %S" 2> /dev/null)

# fake, as the site configures it. A line that fails ends the job with `launch_failed`: append `|| true` to one that may fail.
environment_failed() {  # number of the line, exit code
  trap - ERR; line=$(sed --quiet "$1p" "$0"); reason=
  [[ $line != *"checked "* ]] || reason=" ($(head --lines=3 "$try/module.err" | paste --serial --delimiters=" "))"
  echo "the environment failed with exit code $2 at: ${line//checked /}$reason" | tee "$try/launch_failed" >&2
  for python in python3 python; do
    "$python" "$folder/steptime-worker.pyz" --deliver "$try" "$sweep/../.." 2> /dev/null && break
  done
  exit "$2"
}
trap 'code=$?; [ "${#BASH_SOURCE[@]}" -gt 1 ] || environment_failed "$LINENO" "$code"' ERR
export ONEDNN_MAX_CPU_ISA=AVX2
export CACHE="$HOME"'/it'"'"'s here'
source /opt/fake.sh
python="$FAKE_HOME"/bin/python; type "$python" > /dev/null
trap - ERR

# The worker, for at most 900 s; then its record goes into the store.
cd "$try" || exit 1
timeout --kill-after=30 900 "$python" "$folder/steptime-worker.pyz" "$try"
code=$?
"$python" "$folder/steptime-worker.pyz" --deliver "$try" "$sweep/../.."
exit $code
