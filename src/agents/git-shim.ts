import { join } from 'node:path';
import type { LaunchFile } from '../supervisor/contract.ts';
import { quoteForShell } from '../protocol/text/quote-for-shell.ts';

/**
 * A `git` for a session's PATH that runs the next git on the PATH with the fence's hooks as the final `core.hooksPath`.
 * A client's shell may set other hooks through variables or `-c` (Gemini CLI disables them for every command). If a
 * process calls git by its path or removes the shim on purpose, the daemon detects it afterwards
 * (`daemon/project/main-watch.ts`).
 */
export function gitShimFiles(bin: string, hooksPath: string): readonly LaunchFile[] {
  const content = SCRIPT.replace('HOOKS', () => quoteForShell(hooksPath));
  return [
    { path: join(bin, 'git'), content, mode: 0o755 },
    { path: join(bin, MARKER), content: '' },
  ];
}

/** Marks a folder whose `git` is a shim, so that no shim runs another one. */
export const MARKER = '.baton-shims';

/** Shell code that sets `real` to the first git on the PATH that is not a shim. */
export const FIND_REAL_GIT = `real= old_ifs=$IFS
IFS=:
set -f
for dir in $PATH; do
  dir=\${dir:-.}
  [ -x "$dir/git" ] && [ -f "$dir/git" ] && ! [ -e "$dir/${MARKER}" ] && real=$dir/git && break
done
set +f
IFS=$old_ifs
[ -n "$real" ] || { echo 'baton: git is not on the PATH' >&2; exit 127; }`;

/**
 * Command-line settings override variables, and the last one wins, so the fence's setting goes after all of git's own
 * options, directly before the subcommand. Without such options nothing is parsed. Arguments are never copied one by
 * one, because there may be thousands.
 */
const SCRIPT = `#!/bin/sh
# Written by Baton. Runs git with the hooks of this session's fence; docs/git.md says more.
fence=core.hooksPath=HOOKS
${FIND_REAL_GIT}
case \${1-} in
  '') exec "$real" "$@" ;;
  -*) ;;
  *) exec "$real" -c "$fence" "$@" ;;
esac
quote() {
  rest=$1 quoted=
  while :; do
    case $rest in
      *\\'*) quoted=$quoted\${rest%%\\'*}"'\\\\''" rest=\${rest#*\\'} ;;
      *) break ;;
    esac
  done
  options="$options '$quoted$rest'"
}
options=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help | -v | --version) break ;;
    -C | -c | --git-dir | --work-tree | --namespace | --super-prefix | --config-env | --attr-source)
      quote "$1"
      shift
      [ $# -gt 0 ] || break
      ;;
    -*) ;;
    *)
      eval "set -- $options -c \\"\\$fence\\" \\"\\$@\\""
      exec "$real" "$@"
      ;;
  esac
  quote "$1"
  shift
done
eval "set -- $options \\"\\$@\\""
exec "$real" "$@"
`;
