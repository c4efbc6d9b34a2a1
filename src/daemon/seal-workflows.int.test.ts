import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Entry } from '../ledger/entry.ts';
import { parseEntry } from '../ledger/entry.ts';
import type { Log } from './log.ts';
import type { Project } from './project.ts';
import { openBareProject } from './project.cases.ts';
import { sealLost, sealWorkflows } from './seal-workflows.ts';

const said: string[] = [];
const log: Log = { info: () => undefined, error: (message) => void said.push(message) };
let folder: string;
let project: Project;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-seal-'));
  said.length = 0;
  project = await openBareProject({ id: 'p', path: folder, stateDir: folder });
});
afterEach(async () => {
  await project.close();
  rmSync(folder, { recursive: true, force: true });
});

const closing = (task_id: string) => ({
  actor: 'system:test',
  type: 'PhaseMoved',
  data: { task_id, from: 'COMPLETED', to: 'COMPLETED', next_role: null, reason: null },
});

async function record(...tasks: string[]): Promise<Entry[]> {
  const recorded = await project.ledger.append(tasks.map(closing));
  if (!recorded.ok) throw new Error('not recorded');
  return recorded.entries.map(({ entry }) => entry);
}

/** The sizes that were sealed. */
async function seals(): Promise<unknown[]> {
  const sizes: unknown[] = [];
  for await (const batch of project.ledger.store.entries({ from: 1, to: project.ledger.head.size }))
    for (const { bytes } of batch) {
      const entry = parseEntry(bytes);
      if (entry.ok && entry.value.type === 'LedgerSealed') sizes.push(entry.value.data['size']);
    }
  return sizes;
}

describe('the end of a workflow', () => {
  it('is sealed by the next daemon where the one before was killed in between, and only once', async () => {
    await sealLost(project, log);
    expect(await seals()).toEqual([]);
    const [end] = await record('A');
    await sealLost(project, log);
    await sealLost(project, log);
    expect(await seals()).toEqual([end?.seq]);
  });

  it('is sealed also where another ends at the same moment', async () => {
    const [a] = await record('A');
    const first = sealWorkflows(project, a === undefined ? [] : [a], log);
    const [b] = await record('B');
    await Promise.all([first, sealWorkflows(project, b === undefined ? [] : [b], log)]);
    expect(Number((await seals()).at(-1))).toBeGreaterThanOrEqual(b?.seq ?? Infinity);
    expect(said).toEqual([]);
  });
});
