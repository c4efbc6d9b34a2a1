import { chmodSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { findDaemon } from '../../api/client/reach.ts';
import { readDaemonRecord, stateFiles } from '../../api/state-folder.ts';
import { removeSocketFolder } from '../../daemon/http/connections.ts';
import { lockStateFolder } from '../../daemon/state-lock.ts';
import { git } from '../../git/run-git.ts';
import { HOOKED_CLIENTS } from '../../hooks/clients.ts';
import { findMachine } from '../../hooks/command-line.ts';
import { installHooks, type InstallResult, restoreUnfinished, uninstallDeletedProjects } from '../../hooks/install.ts';
import { InstallRecord } from '../../hooks/record.ts';
import { systemRoot } from '../../sandbox/user/agent-user.ts';
import { setUpAgentUser } from '../../sandbox/user/set-up-agent-user.ts';
import { installService, serviceHost } from '../daemon/service.ts';
import type { Diagnosis, FixedFinding, Repair } from './finding.ts';
import type { Place } from './place.ts';

interface Repaired {
  readonly ok: boolean;
  readonly detail: string;
}

/** Applies the corrections of all findings, in order. A failure is reported, and the others continue. */
export async function repairAll(found: readonly Diagnosis[], place: Place): Promise<readonly FixedFinding[]> {
  const fixed: FixedFinding[] = [];
  for (const { code, repair: wanted } of found) {
    if (wanted === undefined) continue;
    fixed.push({ code, ...(await repair(wanted, place).catch(failed)) });
  }
  return fixed;
}

function failed(error: unknown): Repaired {
  return { ok: false, detail: error instanceof Error ? error.message : String(error) };
}

async function repair(wanted: Repair, place: Place): Promise<Repaired> {
  const { stateDir, env } = place;
  switch (wanted.kind) {
    case 'make-private':
      chmodSync(wanted.path, wanted.mode);
      return { ok: true, detail: `${wanted.path} has the mode ${wanted.mode.toString(8)}` };
    case 'remove-stale-daemon':
      return removeStaleDaemon(stateDir);
    case 'install-hooks':
      return reinstallHooks(wanted, place);
    case 'remove-hooks-of-deleted': {
      const { done, roots } = uninstallDeletedProjects(HOOKED_CLIENTS[wanted.client], findMachine(env));
      return describeHooks(done, `removed the hooks of ${wanted.client} for ${roots.join(' and ')}`);
    }
    case 'restore-hooks': {
      const request = { scope: { kind: 'user' }, options: { onStop: 'signal', claim: false } } as const;
      const done = restoreUnfinished({ ...request, machine: findMachine(env) });
      return done.ok ? { ok: true, detail: 'restored the files of the client' } : { ok: false, detail: done.what };
    }
    case 'set-up-agent-user':
      return setUpUser(env);
    case 'forget-worktree':
      return forgetWorktree(wanted.path, place);
    case 'write-service': {
      const done = installService(serviceHost(env));
      if (!done.ok) return { ok: false, detail: done.error.message };
      return { ok: true, detail: `wrote ${done.file.path}; to start it: ${done.file.enable}` };
    }
  }
}

/** Holds the lock of the state folder, so that no daemon starts in the meantime. */
async function removeStaleDaemon(stateDir: string): Promise<Repaired> {
  const lock = lockStateFolder(stateDir);
  if (!lock.ok) return { ok: false, detail: lock.error.message };
  try {
    const connection = await findDaemon(stateDir);
    connection?.close();
    if (connection !== undefined) return { ok: false, detail: 'another program answers on the socket' };
    const { socket, record } = stateFiles(stateDir);
    const named = readDaemonRecord(stateDir)?.socket;
    rmSync(socket, { force: true });
    if (named !== undefined) removeSocketFolder(named);
    rmSync(record, { force: true });
    return { ok: true, detail: `removed the socket and the record of the daemon in ${stateDir}` };
  } finally {
    lock.release();
  }
}

function reinstallHooks({ client, scope }: Extract<Repair, { kind: 'install-hooks' }>, { env }: Place): Repaired {
  const machine = findMachine(env);
  const installed = new InstallRecord(machine.stateDir).find(client, scope);
  if (installed === undefined) return { ok: false, detail: `the hooks of ${client} are not on record` };
  const done = installHooks(HOOKED_CLIENTS[client], { scope, options: installed.options, machine });
  return describeHooks(done, `installed the hooks of ${client} again`);
}

function describeHooks(done: InstallResult, detail: string): Repaired {
  return done.ok ? { ok: true, detail } : { ok: false, detail: `${done.what}. ${done.hint}` };
}

function setUpUser(env: Place['env']): Repaired {
  // With sudo, the user who ran it.
  const done = setUpAgentUser({ operator: env['SUDO_USER'] ?? userInfo().username, prefix: systemRoot() });
  const steps = done.steps.join('; ') || 'everything was there';
  return done.ok ? { ok: true, detail: steps } : { ok: false, detail: `${steps}; then failed: ${done.reason}` };
}

/** Git refuses if the folder exists again and has work in it. */
async function forgetWorktree(path: string, { repository }: Place): Promise<Repaired> {
  if (!repository.ok) return { ok: false, detail: repository.problem.message };
  const done = await git(['worktree', 'remove', '--', path], { cwd: repository.value.mainTop });
  return done.ok
    ? { ok: true, detail: `removed ${path} from the worktrees that git has on record` }
    : { ok: false, detail: done.problem.message };
}
