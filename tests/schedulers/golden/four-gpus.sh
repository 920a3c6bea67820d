#!/bin/bash -l
#SBATCH --job-name=steptime-mnist_cnn-0
#SBATCH --partition=GPU-shared
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=2
#SBATCH --gres=gpu:k80:4
#SBATCH --time=0:30:00
#SBATCH --no-requeue
# case 0; on 4 k80 in GPU-shared
# Written by steptime for the site bridges. Edit it if you like, and submit it again: sbatch script.sh
# Each submission leaves a record of its own in the store, and its log here.

sweep=/store/sweeps/s1
[ -d "$sweep" ] || sweep=$SLURM_SUBMIT_DIR/..  # the store was moved: submit from this folder
name=mnist_cnn-0
job=$SLURM_JOB_ID
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
export STEPTIME_SITE=bridges STEPTIME_JOB=$job STEPTIME_GRES=gpu:k80:4
export STEPTIME_PARTITION=$SLURM_JOB_PARTITION
export STEPTIME_NODES=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | paste --serial --delimiters=,)
export STEPTIME_QUEUED=$(timeout 10 squeue --noheader --jobs="$SLURM_JOB_ID" --format="%V %S" 2> /dev/null)
export MASTER_ADDR=${STEPTIME_NODES%%,*} MASTER_PORT=$((20000 + SLURM_JOB_ID % 12000))

# pytorch, as the site configures it. A line that fails ends the job with `launch_failed`: append `|| true` to one that may fail.
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
checked() {  # for `module`: older versions print an error and return 0
  local code=0; "$@" 2> "$try/module.err" || code=$?
  cat "$try/module.err" >&2
  if [ "$code" = 0 ] && grep --extended-regexp --quiet '(^|[[:space:]:])ERROR:' "$try/module.err"; then code=1; fi
  return "$code"
}
checked module load AI/anaconda3-5.1.0_gpu
if [ -x "$AI_ENV"/bin/python ]; then export PATH="$AI_ENV"/bin:"$PATH" CONDA_PREFIX="$AI_ENV"
else eval "$(conda shell.bash hook)" && conda activate "$AI_ENV"; fi
[ -x "$CONDA_PREFIX/bin/python" ]  # conda environment $AI_ENV
python=python; type "$python" > /dev/null
trap - ERR

# The worker, for at most 900 s; then its record goes into the store.
cd "$try" || exit 1
timeout --kill-after=30 900 srun --ntasks=4 --ntasks-per-node=4 --cpus-per-task=2 --kill-on-bad-exit=1 "$python" "$folder/steptime-worker.pyz" "$try"
code=$?
"$python" "$folder/steptime-worker.pyz" --deliver "$try" "$sweep/../.."
exit $code
