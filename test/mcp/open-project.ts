import { HostClock } from '../../src/daemon/fleet/host-clock.ts';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../../src/api/answer.ts';
import { isOfProject, OPERATIONS } from '../../src/api/operations/registry.ts';
import { requireResult } from '../../src/api/require-result.cases.ts';
import { executeOperation } from '../../src/daemon/dispatch.ts';
import { openBareProject } from '../../src/daemon/project/project.cases.ts';
import type { Project } from '../../src/daemon/project/project.ts';
import { Rulebook } from '../../src/daemon/rules/rulebook.ts';
import { RunbookWatch } from '../../src/daemon/rules/runbook-watch.ts';
import type { Backend } from '../../src/mcp/connection.ts';
import { problem } from '../../src/protocol/shape/problem.ts';
import type { Caller } from '../../src/state/caller.ts';

export const COMMIT = 'a'.repeat(40);

/** A real project in this process, without the daemon's access checks: a backend whose tokens name their callers. */
export interface OpenedProject extends Backend, AsyncDisposable {
  readonly project: Project;
  /** The calls, newest last. */
  readonly calls: { readonly operation: string; readonly token: string; readonly key: string | undefined }[];
  readonly asOperator: (operation: string, input: unknown) => Promise<Answer>;
}

export async function openTestProject(): Promise<OpenedProject> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-mcp-'));
  const project = await open(folder);
  const sessions = new Map<string, Caller>();
  const working = new RunbookWatch(folder);
  const log = { info: () => undefined, error: () => undefined };
  const services = {
    newId: randomUUID,
    issueToken: ({ sessionId, taskId, epoch }: { sessionId: string; taskId: string; epoch: number }) => {
      const token = `session:${sessionId}`;
      sessions.set(token, { kind: 'session', sessionId, taskId, epoch });
      return token;
    },
    runbook: working,
    rulebook: new Rulebook({ path: folder, env: {}, log }),
    log,
    git: {
      keepCommit: async (_own: unknown, sha: string) =>
        sha === COMMIT ? undefined : problem('git/no-commit', 'no such commit', ''),
    },
    exitProtocol: true,
    env: {},
    clock: new HostClock(),
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    loop: { lagMs: 0, boundMs: 1 },
    adviseSandbox: async () => ({ kind: 'none', notes: [] }) as const,
  };
  const calls: OpenedProject['calls'] = [];
  const call: Backend['call'] = async (name, input, { token = 'worker', key, signal }) => {
    calls.push({ operation: name, token, key });
    const operation = OPERATIONS.get(name);
    const caller = callerOf(token, sessions);
    if (operation === undefined || caller === undefined || !isOfProject(operation))
      throw new Error(`${name} with ${token}`);
    const options = { ...(key === undefined ? {} : { key }), ...(signal === undefined ? {} : { signal }) };
    const answer = await executeOperation(operation, { project, input, caller, services, ...options });
    requireResult(name, answer);
    return answer;
  };
  return {
    project,
    calls,
    call,
    asOperator: async (operation, input) => call(operation, input, { token: 'operator' }),
    [Symbol.asyncDispose]: async () => {
      await project.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function callerOf(token: string, sessions: ReadonlyMap<string, Caller>): Caller | undefined {
  if (token === 'operator') return { kind: 'operator', name: 'ada' };
  if (token === 'worker') return { kind: 'worker', name: 'worker' };
  return sessions.get(token);
}

async function open(folder: string): Promise<Project> {
  return openBareProject({ id: 'p', path: folder, stateDir: folder });
}
