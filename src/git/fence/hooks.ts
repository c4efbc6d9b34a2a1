import { FENCE_VERSION } from './fence.ts';

/**
 * Git runs only these hooks, so each one calls the user's hook of its name. Always installed, because user hooks may
 * appear at any time.
 */
export const HOOK_NAMES: readonly string[] = (
  'applypatch-msg commit-msg post-applypatch post-checkout post-commit post-merge post-rewrite ' +
  'pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg ' +
  'reference-transaction sendemail-validate'
).split(' ');

/**
 * Installed only if the user has the same hook: git calls the first at every status, the presence of the next two
 * changes git's behaviour, and the others are rare in a worktree.
 */
export const RARE_HOOK_NAMES: readonly string[] = (
  'post-index-change proc-receive push-to-checkout p4-changelist p4-post-changelist p4-pre-submit ' +
  'p4-prepare-changelist post-receive post-update pre-receive update'
).split(' ');

export const HOOKS_FOLDER = 'baton-hooks';
/** A file beside the fence with the branches that the claim created, one per line. */
export const CREATED_BRANCHES_FILE = 'baton-branches';
/** Marks that the user has a reference-transaction hook. Without the mark the script skips the search. */
export const PASS_ON_FILE = 'pass-on-transactions';

/**
 * The script behind all hooks; git calls it by the hook's name. Plain `sh`. A commit on the task's branch starts one
 * process here, which asks git for the user's hooks; a commit on another branch starts one more.
 *
 * A session's environment names this folder for every git process below it (`fenceEnvironment`), so the script also
 * runs in the main checkout and in unrelated repositories. It detects these and does nothing there.
 */
export const FENCE_SCRIPT = `#!/bin/sh
# Written by Baton. Refuses to move refs that are not this session's, and to push without a live claim.
# Then it calls your own hook of the same name. docs/git.md says more.
here=\${0%/*}
hook=\${0##*/}
created=$here/../${CREATED_BRANCHES_FILE}
version= task= epoch= ref= live_path= hooks= own= main=
[ -r "$here/../baton-fence" ] && {
  IFS= read -r version; IFS= read -r task; IFS= read -r epoch; IFS= read -r ref
  IFS= read -r live_path; IFS= read -r hooks; IFS= read -r own; IFS= read -r main
} <"$here/../baton-fence"

# Sets git_dir to the git folder that a path names, and common to the one that it shares with all its worktrees.
resolve() {
  git_dir=$1 word= link=
  if [ -f "$git_dir" ]; then
    read -r word link <"$git_dir"
    case $link in /*) git_dir=$link ;; *) git_dir=\${1%.git}$link ;; esac
  fi
  common=$git_dir link=
  [ -f "$git_dir/commondir" ] && IFS= read -r link <"$git_dir/commondir"
  case $link in '') ;; /*) common=$link ;; *) common=$git_dir/$link ;; esac
}

# Whether the folder that resolve found is of the fenced repository.
is_ours() {
  [ "$common" -ef "$here/../../.." ]
}

holds() {
  live= session=
  [ -r "$live_path" ] && read -r live session <"$live_path"
  if [ "$version" != '${FENCE_VERSION}' ] || [ -z "$live" ]; then
    why="no claim is known for this worktree of \${task:-an unknown task}"
  elif [ "$live" = - ]; then
    why="claim ended: $task is no longer held (this worktree had epoch $epoch)"
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

refuse() {
  printf '%s\\n' "$why" \\
    "baton: $1 refused. Your work is still here; do not force it. Take the task again (baton task claim $task --worktree)," \\
    "baton: or another one (baton task next). baton task show $task says who has it." >&2
  exit 1
}

deny() {
  printf 'baton: %s\\n' "moving $name refused: $1" "$2" >&2
  exit 1
}

is_zero() {
  [ "\${1#*[!0]}" = "$1" ]
}

is_created() {
  [ -r "$created" ] || return 1
  while IFS= read -r each; do
    [ "$each" = "$1" ] && return 0
  done <"$created"
  return 1
}

exists() {
  git --git-dir="$git_dir" show-ref --verify --quiet "$1" </dev/null
}

# A transaction that is about to be committed: each ref in it must be the task's branch, this claim's own, or free.
judge() {
  while read -r old new name; do
    [ -n "$name" ] || continue
    # Git names a branch that stays with the same commit twice (a reset of files only), and one that it deletes with zeros.
    [ "$old" = "$new" ] && ! is_zero "$new" && continue
    case $name in
      "$ref") holds || refuse "moving $name" ;;
      refs/heads/*)
        [ "$version" = '${FENCE_VERSION}' ] || { holds; refuse "moving $name"; }
        [ "$name" = "$main" ] &&
          deny 'it is the main branch, and Baton merges into it.' "Commit on \${ref#refs/heads/} and hand the task on."
        is_created "$name" || ! exists "$name" ||
          deny "it is not the branch of $task, and this claim did not create it." \\
            "Commit on \${ref#refs/heads/}, or make a branch of your own: git switch -c NAME"
        ;;
      refs/bisect/* | refs/worktree/* | refs/rewritten/* | refs/remotes/* | refs/stash) ;;
      refs/tags/*) deny 'tags are not for sessions to change.' 'To fetch without them: git fetch --no-tags' ;;
      */*) deny 'a session changes branches of its own, stashes and remote-tracking branches only.' \\
        "Commit on \${ref#refs/heads/} and hand the task on." ;;
      # HEAD and the like are git's own. Any other name without a folder would come before the branch of that name.
      *[!ABCDEFGHIJKLMNOPQRSTUVWXYZ_]*) deny 'it would hide a branch of that name.' \
        'Make a branch of your own: git switch -c NAME' ;;
    esac
  done
}

# A transaction that was committed: what it created is this claim's, until it is deleted.
note() {
  [ "$version" = '${FENCE_VERSION}' ] || return 0
  while read -r old new name; do
    case $name in refs/heads/*) ;; *) continue ;; esac
    [ "$name" = "$ref" ] && continue
    [ "$old" = "$new" ] && ! is_zero "$new" && continue
    if ! is_zero "$new"; then
      is_created "$name" || printf '%s\\n' "$name" >>"$created"
    elif is_created "$name" && ! exists "$name"; then
      while IFS= read -r each; do
        [ "$each" = "$name" ] || printf '%s\\n' "$each"
      done <"$created" >"$created.$$" && mv "$created.$$" "$created"
    fi
  done
}

is_here() {
  for each in "$1" "$1/.git" "$1.git"; do
    [ -e "$each" ] && resolve "$each" && is_ours && return 0
  done
  return 1
}

resolve "\${GIT_DIR:-.git}"
fenced=1
[ -d "$common" ] && ! is_ours && fenced=

input= was_read=
case $fenced$hook in
  1pre-commit | 1pre-merge-commit)
    # Git would refuse later too, but with less to read if the claim has ended.
    at=
    [ -f "$git_dir/HEAD" ] && IFS= read -r at <"$git_dir/HEAD"
    if [ "$at" = "ref: $ref" ] || [ "$version" != '${FENCE_VERSION}' ]; then
      holds || refuse "moving \${ref:-a branch}"
    fi
    ;;
  1pre-push)
    holds || refuse push
    if (is_here "\${2#file://}"); then
      name="a branch in $2" && deny 'it is this repository itself.' 'A push there would go around the fence.'
    fi
    ;;
  1reference-transaction)
    [ -e "$here/${PASS_ON_FILE}" ] && input=$(cat) was_read=1
    case $1 in prepared) rule=judge ;; committed) rule=note ;; *) rule=: ;; esac
    [ -z "$was_read" ] && { "$rule"; exit 0; }
    "$rule" <<EOF
$input
EOF
    ;;
esac

dir=$common/hooks
[ -d "$common" ] || dir=$hooks
if [ -n "$own" ] && [ -n "$fenced" ] && ! [ "$git_dir" -ef "$common" ]; then
  dir=$own
else
  found=$(git --git-dir="$git_dir" config --type=path --get-all core.hooksPath 2>/dev/null </dev/null)
  while IFS= read -r path; do
    case $path in '' | */${HOOKS_FOLDER}) ;; *) dir=$path ;; esac
  done <<EOF
$found
EOF
fi

own_hook=$dir/$hook
{ [ -f "$own_hook" ] && [ -x "$own_hook" ]; } || exit 0
[ -z "$was_read" ] && exec "$own_hook" "$@"
if [ -n "$input" ]; then printf '%s\\n' "$input"; fi | "$own_hook" "$@"
`;
