import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RecordedEvent } from '../state/event.ts';
import { emptyState } from '../state/state.ts';
import { agentFiles } from '../supervisor/contract.ts';
import type { EffectContext } from './context.ts';
import { Effects } from './effects.ts';
import { ownerFile } from './processes/supervised.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'baton-tidy-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

function folderOf(id: string, project: string): string {
  const { folder } = agentFiles(stateDir, id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(ownerFile(folder), project);
  return folder;
}

it('removes the folders of old runs while the daemon runs, after enough runs have ended', async () => {
  const context = { stateDir, projectId: 'p', here: () => undefined, log: { info: () => {}, error: () => {} } };
  const effects = new Effects(() => context as Partial<EffectContext> as EffectContext); // oxlint-disable-line typescript/no-unsafe-type-assertion
  const [own, other] = [folderOf('old', 'p'), folderOf('of-another', 'q')];
  const ended = { type: 'AgentEnded', data: { agent_id: 'old', outcome: 'done', reason: '' } };
  const end = (runs: number): void =>
    effects.onRecorded(Array.from({ length: runs }, () => ended as unknown as RecordedEvent)); // oxlint-disable-line typescript/no-unsafe-type-assertion
  end(49);
  effects.tick(emptyState());
  expect(existsSync(own)).toBe(true);
  end(1);
  effects.tick(emptyState());
  expect([existsSync(own), existsSync(other)]).toEqual([false, true]);
  await effects.close();
});
