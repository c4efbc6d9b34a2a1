import { existsSync, realpathSync } from 'node:fs';
import { CLIENTS, type HookMachine, type Scope } from '../../../hooks/client.ts';
import { HOOKED_CLIENTS } from '../../../hooks/clients.ts';
import { findMachine } from '../../../hooks/command-line.ts';
import { isUnfinished } from '../../../hooks/files/journal.ts';
import { InstallRecord } from '../../../hooks/record.ts';
import { readHooksStatus } from '../../../hooks/status.ts';
import type { HookFacts, HookFileFacts } from '../checks/hooks.ts';
import type { Place } from '../place.ts';

export function readHookFacts({ env, repository }: Place): HookFacts {
  const machine = findMachine(env);
  const record = new InstallRecord(machine.stateDir);
  const scopes: readonly Scope[] = [
    { kind: 'user' },
    ...(repository.ok ? [{ kind: 'project', root: repository.value.top } as const] : []),
  ];
  const files = CLIENTS.flatMap((client) =>
    scopes.flatMap((scope) => readFiles({ client, scope }, machine, record.find(client, scope) !== undefined)),
  );
  const deleted = CLIENTS.flatMap((client) =>
    record
      .all(client)
      .flatMap(({ scope }) =>
        scope.kind === 'project' && !existsSync(scope.root) ? [{ client, root: scope.root }] : [],
      ),
  );
  return { baton: machine.baton, files: onePerPath(files), deleted, isUnfinished: isUnfinished(machine.stateDir) };
}

function readFiles(
  { client, scope }: Pick<HookFileFacts, 'client' | 'scope'>,
  machine: HookMachine,
  isOnRecord: boolean,
): readonly HookFileFacts[] {
  return readHooksStatus(HOOKED_CLIENTS[client], scope, machine).map(({ path, parts, problems, programs, missing }) => {
    const others = programs.filter((program) => !isSameFile(program, machine.baton));
    return { client, scope, path, parts, problems, others, missing, isOnRecord };
  });
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return a === b;
  }
}

/** Two scopes of a client can share a file. The recorded one counts. */
function onePerPath(files: readonly HookFileFacts[]): readonly HookFileFacts[] {
  const byPath = Map.groupBy(files, ({ path }) => path);
  return [...byPath.values()].flatMap((same) => same.find(({ isOnRecord }) => isOnRecord) ?? same[0] ?? []);
}
