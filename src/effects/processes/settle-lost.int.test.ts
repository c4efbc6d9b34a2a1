import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { readProcessIdentity } from '../../api/processes.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import { agentMark, endLostRun } from './settle-lost.ts';
import { readExit, type SupervisedFiles } from './supervised.ts';

let stateDir: string;
let id: string;
let files: SupervisedFiles;
const children: ChildProcess[] = [];
const START = 1;
const EXIT: Exit = { start: START, code: 3, signal: null, timed_out: false, blocks_used: false, output: 'bye' };

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'baton-lost-'));
  id = randomUUID();
  files = agentFiles(stateDir, id);
  mkdirSync(files.folder, { recursive: true });
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(stateDir, { recursive: true, force: true });
});

/** Starts a process of this agent. All its starts have the same mark. */
function startProcess(): number {
  const env = { ...process.env, BATON_AGENT_ID: id };
  const child = spawn('sleep', ['60'], { env, detached: true, stdio: 'ignore' });
  children.push(child);
  return child.pid ?? 0;
}

describe('a start whose supervisor is lost', () => {
  it('is ended, and its exit is written', async () => {
    const pid = startProcess();
    expect(await endLostRun({ files, start: START, mark: agentMark(id) })).toMatchObject({ signal: 'SIGKILL' });
    expect(readProcessIdentity(pid)).toBeUndefined();
    expect(readExit(files, START)).toMatchObject({ start: START, signal: 'SIGKILL' });
  });

  it('leaves running processes alone if its exit is already written: they belong to the next start', async () => {
    writeFileSync(files.exit(START), JSON.stringify(EXIT));
    const next = startProcess();
    expect(await endLostRun({ files, start: START, mark: agentMark(id) })).toEqual(EXIT);
    expect(readProcessIdentity(next)).toBeDefined();
  });

  it('is settled by one of several callers; the others leave the next start alone', async () => {
    const pid = startProcess();
    const settling = endLostRun({ files, start: START, mark: agentMark(id) });
    writeFileSync(files.exit(START), JSON.stringify(EXIT));
    const next = startProcess();
    expect(await settling).toEqual(EXIT);
    // The exit is already recorded, so nothing has waited for the killed process.
    await until('it is gone', () => readProcessIdentity(pid) === undefined);
    expect(readProcessIdentity(next)).toBeDefined();
  });
});
