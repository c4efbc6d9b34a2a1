/**
 * While the fence stands, git looks for hooks in Baton's folder only, so that each must be passed on to the user's own.
 * These are there always: a user's hooks may appear at any time, when dependencies are installed.
 */
export const HOOK_NAMES = [
  'applypatch-msg',
  'commit-msg',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-merge',
  'post-rewrite',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'prepare-commit-msg',
  'reference-transaction',
  'sendemail-validate',
] as const;

/**
 * These are there only where the user has one when the fence is put up: git calls the first at every look at the files,
 * being there changes what the next two mean, and the others are seldom met in a worktree.
 */
export const RARE_HOOK_NAMES = [
  'post-index-change',
  'proc-receive',
  'push-to-checkout',
  'p4-changelist',
  'p4-post-changelist',
  'p4-pre-submit',
  'p4-prepare-changelist',
  'post-receive',
  'post-update',
  'pre-receive',
  'update',
] as const;

/** Transactions are many: only where this file is, which marks that the user has a hook for them, is it looked for. */
export const PASS_ON = 'pass-on-transactions';

/**
 * The one script behind all of them: it is called by the name of the hook. It is plain `sh` and starts no process on the
 * way to a yes, but the one that asks git where the user's hooks are, and that can change at any time.
 *
 * On a transaction the fence is asked before standard input is read: only where it says no does it matter which refs
 * are in it. Git does not mind a hook that does not read.
 */
export const FENCE_SCRIPT = `#!/bin/sh
# Written by Baton. Refuses to move the task's branch, and to push, for whoever does not hold the task any more.
# Then it calls your own hook of the same name. docs/git.md says more.
here=\${0%/*}
hook=\${0##*/}
version= task= epoch= ref= live_path= hooks= own=
[ -r "$here/../baton-fence" ] && {
  IFS= read -r version; IFS= read -r task; IFS= read -r epoch; IFS= read -r ref
  IFS= read -r live_path; IFS= read -r hooks; IFS= read -r own
} <"$here/../baton-fence"

holds() {
  live= session=
  [ -r "$live_path" ] && read -r live session <"$live_path"
  if [ "$version" != 'baton-fence 1' ] || [ -z "$live" ]; then
    why="no claim is known for this worktree of \${task:-an unknown task}"
  elif [ "$live" = - ]; then
    why="claim ended: nobody holds $task any more (this worktree had epoch $epoch)"
  elif [ "$live" != "$epoch" ]; then
    why="stale claim: epoch $epoch < $live"
  elif [ -n "\${BATON_SESSION:-}" ] && [ "$BATON_SESSION" != "$session" ]; then
    why="stale claim: session $BATON_SESSION does not hold $task (epoch $live)"
    [ -n "\${BATON_EPOCH:-}" ] && why="stale claim: epoch $BATON_EPOCH < $live"
  else
    return 0
  fi
  return 1
}

# Whether the transaction moves the task's branch; any branch, where it is not known which. Git writes the same name
# twice where a branch stays (a reset of files only), and zeros twice where it deletes one.
moves() {
  while read -r old new name; do
    [ "$name" = "$ref" ] || { [ -z "$ref" ] && [ "\${name#refs/heads/}" != "$name" ]; } || continue
    [ "$old" = "$new" ] && [ "\${new#*[!0]}" != "$new" ] && continue
    return 0
  done <<EOF
$input
EOF
  return 1
}

refuse() {
  printf '%s\\n' "$why" \\
    "baton: $1 refused. Your work is still here; do not force it. Take the task again (baton task claim $task --worktree)," \\
    "baton: or another one (baton task next). baton task show $task says who has it." >&2
  exit 1
}

input= was_read=
case $hook in
  pre-push)
    holds || refuse push
    ;;
  reference-transaction)
    if [ "$1" = prepared ] && ! holds; then
      input=$(cat) was_read=1
      moves && refuse "moving $name"
    fi
    [ -e "$here/${PASS_ON}" ] || exit 0
    ;;
esac

dir=$own
if [ -z "$dir" ]; then
  dir=\${hooks:-$here/../../../hooks}
  found=$(git --git-dir="$here/.." config --show-scope --type=path --get-all core.hooksPath 2>/dev/null)
  while IFS='	' read -r scope path; do
    [ "$scope" != worktree ] && [ -n "$path" ] && dir=$path
  done <<EOF
$found
EOF
fi

own_hook=$dir/$hook
{ [ -f "$own_hook" ] && [ -x "$own_hook" ]; } || exit 0
[ -z "$was_read" ] && exec "$own_hook" "$@"
if [ -n "$input" ]; then printf '%s\\n' "$input"; fi | "$own_hook" "$@"
`;
