import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../protocol/sandbox.ts';
import { quoteForShell } from '../protocol/text/quote-for-shell.ts';
import type { LaunchFile } from '../supervisor/contract.ts';
import { FIND_REAL_GIT, MARKER } from './git-shim.ts';

/**
 * A `git` for the PATH of a session that has a private git directory but no mounts. In the worktree it names that
 * directory; elsewhere git finds its own. A program that bypasses this `git` finds a git directory that it cannot
 * write.
 */
export function gitPlaceShim(bin: string, { folder, worktree }: PrivateGit): readonly LaunchFile[] {
  const values: Readonly<Record<string, string>> = { PRIVATE: join(realpathSync(folder), 'git'), WORKTREE: worktree };
  const content = SCRIPT.replaceAll(/\b(PRIVATE|WORKTREE)\b/g, (name) => quoteForShell(values[name] ?? ''));
  return [
    { path: join(bin, 'git'), content, mode: 0o755 },
    { path: join(bin, MARKER), content: '' },
  ];
}

const SCRIPT = `#!/bin/sh
# Written by Baton. Runs git with this session's own git directory; docs/containers.md says more.
${FIND_REAL_GIT}
[ -z "\${GIT_DIR-}" ] || exec "$real" "$@"
top=WORKTREE
at=$(pwd -P) next=
for word do
  case $next in
    folder)
      at=$(cd "$at" && cd "$word" && pwd -P) 2>/dev/null || exec "$real" "$@"
      next=
      continue
      ;;
    value)
      next=
      continue
      ;;
  esac
  case $word in
    -C) next=folder ;;
    -c | --namespace | --super-prefix | --config-env | --attr-source) next=value ;;
    --git-dir* | --work-tree* | --bare) exec "$real" "$@" ;;
    -*) ;;
    # They make repositories elsewhere.
    clone | init) exec "$real" "$@" ;;
    *) break ;;
  esac
done
while :; do
  [ "$at" = "$top" ] && exec "$real" --git-dir=PRIVATE "$@"
  case $at/ in
    "$top"/*) ;;
    *) exec "$real" "$@" ;;
  esac
  [ -e "$at/.git" ] && exec "$real" "$@"
  at=\${at%/*}
done
`;
