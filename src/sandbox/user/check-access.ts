import type { UserSpec } from '../../protocol/sandbox.ts';
import { runAs } from './agent-user.ts';

export interface AccessNeeds {
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Files that the user must not reach: keys, tokens, sockets. */
  readonly hidden: readonly string[];
  /** Files that the user must not change. */
  readonly kept: readonly string[];
}

/** Checks access with the kernel, as the agent's user. Returns each difference as a sentence with what to do. */
export async function checkAccess(user: UserSpec, needs: AccessNeeds): Promise<readonly string[]> {
  const words = (['read', 'write', 'hidden', 'kept'] as const).flatMap((kind) =>
    needs[kind].flatMap((path) => [kind, path]),
  );
  const ran = await runAs(user, ['sh', '-c', CHECK, 'sh', ...words]);
  if (!ran.ok) return [`cannot run a program as ${user.name}: ${ran.reason}`];
  return ran.output
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [kind] = line.split(' ', 1);
      const path = line.slice(line.indexOf(' ') + 1);
      if (kind === 'hidden') return `${user.name} can read ${path}: chmod go= ${path}`;
      if (kind === 'kept') return `${user.name} can write ${path}: chmod go-w ${path}`;
      if (kind === 'enter') return `${user.name} cannot enter ${path}: setfacl -m u:${user.name}:x ${path}`;
      return `${user.name} cannot ${kind} ${path}`;
    });
}

/** If a path cannot be reached, the message names the outermost closed folder. */
const CHECK = `closed() {
  rest=\${1#/} at=
  while [ -n "$rest" ]; do
    [ -x "$at/" ] || { echo "enter \${at:-/}"; return 0; }
    at=$at/\${rest%%/*}
    case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
  done
  return 1
}
while [ $# -gt 0 ]; do
  case $1 in
    read) [ -r "$2" ] || closed "$2" || echo "read $2" ;;
    write) [ -w "$2" ] || closed "$2" || echo "write $2" ;;
    hidden) [ ! -r "$2" ] || echo "hidden $2" ;;
    kept) [ ! -w "$2" ] || echo "kept $2" ;;
  esac
  shift 2
done`;
