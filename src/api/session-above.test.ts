import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePs, type ProcessTable, readBootId } from './processes.ts';
import { findSessionAbove, SessionFinder } from './session-above.ts';

let folder: string;
let stateDir: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-above-'));
  stateDir = join(folder, 'state');
  mkdirSync(join(stateDir, 'agents', 'a1'), { recursive: true });
  mkdirSync(join(stateDir, 'agents', 'ended'));
  mkdirSync(join(stateDir, 'commands', 'c1'), { recursive: true });
  symlinkSync(stateDir, join(folder, 'other-name'));
  const running = (pid: number): string => JSON.stringify({ start: 1, process: `${readBootId()}/${pid}/7`, port: 1 });
  writeFileSync(join(stateDir, 'agents', 'a1', 'running-1.json'), running(700));
  writeFileSync(join(stateDir, 'agents', 'ended', 'running-1.json'), running(800));
  writeFileSync(join(stateDir, 'agents', 'ended', 'exit-1.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Row {
  readonly parent?: number;
  readonly group?: number;
  readonly session?: number;
  readonly env?: readonly string[];
  readonly command?: readonly string[];
}

/**
 * A process table with a person's shell (100) and the given rows. All other processes are leaders started by process 1.
 */
function machine(rows: Readonly<Record<number, Row>>): ProcessTable {
  const all: Readonly<Record<number, Row>> = { 1: { parent: 0 }, 100: { parent: 1 }, ...rows };
  const text = (words: readonly string[] = []): string => `\0${words.map((word) => `${word}\0`).join('')}`;
  return {
    find: (pid) => {
      const row = all[pid];
      return row && { parent: row.parent ?? 1, group: row.group ?? pid, session: row.session ?? pid };
    },
    environmentOf: (pid) => text(all[pid]?.env),
    commandOf: (pid) => text(all[pid]?.command),
    list: () => Object.keys(all).map(Number),
  };
}

function find(pid: number, rows: Readonly<Record<number, Row>>, state = stateDir) {
  return new SessionFinder(state, machine(rows)).find(pid);
}

const MARK = 'BATON_AGENT_ID=a1';
const supervisor = (state = stateDir): readonly string[] => ['node', '/opt/supervisor.cjs', `${state}/agents/a1`, '1'];

describe('a process is inside a session', () => {
  it('if its own environment has the mark', () => {
    expect(find(200, { 200: { parent: 100, env: ['PATH=/bin', MARK] } })).toEqual({ kind: 'agent', id: 'a1' });
  });

  it('if a process above it has the mark, although its own environment is empty', () => {
    expect(find(202, { 200: { env: [MARK] }, 201: { parent: 200 }, 202: { parent: 201 } })).toMatchObject({ id: 'a1' });
  });

  it('if a supervisor is above it, although no environment has the mark', () => {
    const rows = { 200: { command: supervisor() }, 201: { parent: 200 }, 202: { parent: 201 } };
    expect(find(202, rows)).toEqual({ kind: 'agent', id: 'a1' });
    const source = ['node', '/repo/src/supervisor/main.ts', `${stateDir}/commands/c1`, '1'];
    expect(find(202, { ...rows, 200: { command: source } })).toEqual({ kind: 'command', id: 'c1' });
  });

  it('if it was given to process 1, but kept the process group or the session of the agent', () => {
    const agent = { parent: 100, env: [MARK] };
    expect(find(300, { 200: agent, 300: { parent: 1, group: 200 } })).toMatchObject({ id: 'a1' });
    expect(find(300, { 200: agent, 300: { parent: 1, session: 200 } })).toMatchObject({ id: 'a1' });
  });

  it('if the leader of its session has ended and is recorded for a run that has not', () => {
    expect(find(300, { 300: { parent: 1, session: 700 } })).toEqual({ kind: 'agent', id: 'a1' });
    expect(find(300, { 300: { parent: 1, group: 700 } })).toMatchObject({ id: 'a1' });
    expect(find(300, { 300: { parent: 1, session: 800 } })).toBeUndefined();
  });

  it('if a process that it was started from left its session, but kept the mark', () => {
    // As with setsid and nohup: another group, another session, started by process 1.
    expect(find(300, { 300: { parent: 1, env: [MARK] }, 301: { parent: 300 } }, stateDir)).toMatchObject({ id: 'a1' });
    expect(find(301, { 300: { parent: 1, env: [MARK] }, 301: { parent: 300 } })).toMatchObject({ id: 'a1' });
  });

  it('if the chain of processes is long', () => {
    const chain = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [1000 + i, { parent: 999 + i }]));
    expect(find(5999, { ...chain, 999: { command: supervisor() } })).toMatchObject({ id: 'a1' });
  });

  it('if its environment has another value in front of the mark', () => {
    expect(find(200, { 200: { env: ['BATON_AGENT_ID=nobody', MARK] } })).toMatchObject({ id: 'a1' });
    expect(find(200, { 200: { env: ['BATON_AGENT_ID=../a1', 'BATON_COMMAND_ID=c1'] } })).toMatchObject({ id: 'c1' });
  });

  it('if the state folder is reached under another name', () => {
    expect(find(200, { 200: { env: [MARK] } }, join(folder, 'other-name'))).toMatchObject({ id: 'a1' });
    expect(find(200, { 200: { command: supervisor() } }, join(folder, 'other-name'))).toMatchObject({ id: 'a1' });
  });

  it('if the given environment has the mark', () => {
    expect(findSessionAbove(stateDir, { BATON_COMMAND_ID: 'c1' })).toEqual({ kind: 'command', id: 'c1' });
  });

  it('and has its token if that is in the same environment', () => {
    const env = [MARK, 'BATON_TOKEN=s.x.y', 'BATON_URL=http://127.0.0.1:1'];
    const session = { kind: 'agent', id: 'a1', token: 's.x.y', url: 'http://127.0.0.1:1' };
    expect(find(201, { 200: { env }, 201: { parent: 200 } })).toEqual(session);
    expect(find(201, { 200: { env }, 201: { parent: 200, env: [MARK] } })).toEqual(session);
    const other = ['BATON_AGENT_ID=ended', 'BATON_TOKEN=s.other.y'];
    expect(find(201, { 200: { env: other }, 201: { parent: 200, env: [MARK] } })).toEqual({ kind: 'agent', id: 'a1' });
    expect(find(201, { 200: { env: [MARK, 'BATON_TOKEN=o.x'] }, 201: { parent: 200 } })).toEqual({
      kind: 'agent',
      id: 'a1',
    });
  });
});

describe('a process is outside', () => {
  it('if nothing above it belongs to a session', () => {
    expect(find(200, { 200: { parent: 100, env: ['PATH=/bin'], command: ['baton', 'status'] } })).toBeUndefined();
    expect(find(4711, {})).toBeUndefined();
  });

  it('if only its neighbours are inside: an attached client in the same terminal, a daemon and its supervisors', () => {
    const rows = {
      200: { parent: 100, session: 100, env: [MARK] },
      201: { parent: 100, session: 100 },
      300: { command: ['node', 'daemon.cjs'] },
      301: { parent: 300, command: supervisor() },
    };
    expect(find(201, rows)).toBeUndefined();
    expect(find(300, rows)).toBeUndefined();
    expect(find(200, rows)).toMatchObject({ id: 'a1' });
    expect(find(301, rows)).toMatchObject({ id: 'a1' });
  });

  it('if the session is one of another state folder', () => {
    expect(find(200, { 200: { env: ['BATON_AGENT_ID=elsewhere'] } })).toBeUndefined();
    expect(find(200, { 200: { env: [MARK], command: supervisor() } }, join(folder, 'third'))).toBeUndefined();
  });

  it('if processes name each other as parents', () => {
    expect(find(200, { 200: { parent: 201 }, 201: { parent: 200 } })).toBeUndefined();
  });
});

it('reads the table of a system without /proc', () => {
  const text = `    1     0     1 /sbin/launchd
  200     1   200 node /opt/my apps/supervisor.cjs ${stateDir}/agents/a1 1 PATH=/bin
  201   200   201 sh -c x
  300     1   300 sh -c y TERM=xterm BATON_AGENT_ID=a1 BATON_TOKEN=s.x.y
  400     1   400 zsh
`;
  const finder = new SessionFinder(stateDir, parsePs(text));
  expect([201, 300, 400].map((pid) => finder.find(pid)?.id)).toEqual(['a1', 'a1', undefined]);
  expect(finder.find(300)?.token).toBe('s.x.y');
  expect(parsePs(text).list()).toEqual([1, 200, 201, 300, 400]);
});
