import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiError } from './answer.ts';
import { listFolderIfPresent, readFileIfPresent } from './files.ts';
import { type ProcessTable, readBootId, readProcessTable } from './processes.ts';
import { stateFiles } from './state-folder.ts';

export interface SessionAbove {
  readonly kind: 'agent' | 'command';
  readonly id: string;
  readonly token?: string;
  readonly url?: string;
}

/**
 * Returns undefined outside of every session. `env` may differ from the environment with which the process was started.
 */
export function findSessionAbove(stateDir: string, env: Environment = {}): SessionAbove | undefined {
  const claimed = Object.entries(env).map(([name, value]) => `\0${name}=${value ?? ''}`);
  const own = parseSessionMark(`${claimed.join('')}\0`, stateDir);
  if (own?.token !== undefined) return own;
  const found = new SessionFinder(stateDir, readProcessTable()).find(process.pid);
  return own !== undefined && own.id !== found?.id ? own : found;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Checks a process and its ancestors: parents, and the leaders of its process group and session, which a child keeps
 * after its parent has ended. A process is inside a session if one of these has the session's mark in its environment
 * or is its supervisor.
 */
export class SessionFinder {
  readonly #stateDir: string;
  readonly #table: ProcessTable;
  /** Processes known to be outside, with all their ancestors. */
  readonly #outside = new Set<number>([0]);

  constructor(stateDir: string, table: ProcessTable) {
    this.#stateDir = stateDir;
    this.#table = table;
  }

  /**
   * Returns the nearest session. Its token may have been removed from near environments and remain in a farther one.
   */
  find(pid: number): SessionAbove | undefined {
    let nearest: SessionAbove | undefined;
    // No depth limit, because a long chain of processes must not hide a session above it.
    const seen = new Set<number>();
    const left = [pid];
    for (let each = left.pop(); each !== undefined; each = left.pop()) {
      if (seen.has(each) || this.#outside.has(each)) continue;
      seen.add(each);
      const links = this.#table.find(each);
      const found = links === undefined ? findSessionOfGroup(each, this.#stateDir) : this.#sessionOf(each);
      nearest ??= found;
      if (found?.token !== undefined && found.id === nearest?.id) return found;
      if (links !== undefined) left.push(links.session, links.group, links.parent);
    }
    if (nearest === undefined) for (const each of seen) this.#outside.add(each);
    return nearest;
  }

  #sessionOf(pid: number): SessionAbove | undefined {
    const { environmentOf, commandOf } = this.#table;
    return (
      parseSessionMark(environmentOf(pid), this.#stateDir) ?? findSupervisedSession(commandOf(pid), this.#stateDir)
    );
  }
}

function parseSessionMark(environment: string, stateDir: string): SessionAbove | undefined {
  for (const [, name, id = ''] of environment.matchAll(/\0BATON_(AGENT|COMMAND)_ID=([^\0]*)/g)) {
    const kind = name === 'AGENT' ? 'agent' : 'command';
    if (!isKnown(kind, id, stateDir)) continue;
    const token = /\0BATON_TOKEN=([sa]\.[^\0]+)/.exec(environment)?.[1];
    const url = /\0BATON_URL=([^\0]+)/.exec(environment)?.[1];
    return { kind, id, ...(token === undefined ? {} : { token }), ...(url === undefined ? {} : { url }) };
  }
  return undefined;
}

/** A supervisor's command line has its program, the folder of its run and the number of the start. */
function findSupervisedSession(command: string, stateDir: string): SessionAbove | undefined {
  const [, folder, id = ''] = /supervisor.*\/(agents|commands)\/([^/\0]+)\0\d+\0/s.exec(command) ?? [];
  const kind = folder === 'agents' ? 'agent' : 'command';
  return folder !== undefined && isKnown(kind, id, stateDir) ? { kind, id } : undefined;
}

/**
 * Finds the session of a process group whose leader has ended. The members keep the leader's pid, so the record of a
 * run that has not ended identifies them.
 */
function findSessionOfGroup(leader: number, stateDir: string): SessionAbove | undefined {
  const start = `"process":"${readBootId() ?? '?'}/${leader}/`;
  for (const kind of ['agent', 'command'] as const) {
    for (const id of listFolderIfPresent(folderOf(kind, stateDir))) {
      const folder = join(folderOf(kind, stateDir), id);
      const names = listFolderIfPresent(folder);
      for (const name of names) {
        const [, number] = /^running-(\d+)\.json$/.exec(name) ?? [];
        if (number === undefined || names.includes(`exit-${number}.json`)) continue;
        if (readFileIfPresent(join(folder, name)).includes(start)) return { kind, id };
      }
    }
  }
  return undefined;
}

function isKnown(kind: SessionAbove['kind'], id: string, stateDir: string): boolean {
  return /^[\w.-]+$/.test(id) && existsSync(join(folderOf(kind, stateDir), id));
}

function folderOf(kind: SessionAbove['kind'], stateDir: string): string {
  const { agents, commands } = stateFiles(stateDir);
  return kind === 'agent' ? agents : commands;
}

export function belowSessionError({ kind, id }: Pick<SessionAbove, 'kind' | 'id'>): ApiError {
  const where =
    kind === 'agent' ? `inside the session of agent ${id}` : `inside the shell command ${id} that Baton runs`;
  const rights = kind === 'agent' ? "has that session's rights only" : 'has no rights of its own';
  return {
    code: 'below-session',
    message: `this process runs ${where} and ${rights}: it cannot act as the operator or as a worker`,
    hint: 'A person can do this in a terminal outside the session.',
  };
}
