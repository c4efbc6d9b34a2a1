import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseUplink } from '../../../src/sandbox/network/namespace/uplink.ts';
import { probeBubblewrap } from '../../../src/sandbox/probe.ts';
import { PATIENCE_MS } from '../../processes/run-world.ts';
import { AttackWorld } from './attack-world.ts';
import { findSuccesses, MUST_FAIL, readAttempts } from './must-fail.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;
const uplink = refuseUplink(process.env);

const POLICIES = [
  ['FULL', '"full"'],
  ['HOSTS', '["example.org"]'],
  ['NOTHING', '"none"'],
] as const;

const REACHED = Object.entries(MUST_FAIL).filter(([what]) => what.startsWith('reach '));

describe.skipIf(!bubblewrap.works)(`the network of a session${unless}`, { timeout: PATIENCE_MS }, () => {
  let world: AttackWorld;
  beforeAll(async () => {
    const agents = POLICIES.map(([task, policy]) => [task, `run = "node attempts.mjs"\nnetwork = ${policy}`]);
    world = await AttackWorld.open({
      mode: 'bubblewrap',
      agents: Object.fromEntries(agents) as Record<string, string>,
    });
    const ids = await Promise.all(POLICIES.map(async ([task]) => world.start(task)));
    await Promise.all(ids.map(async (id) => world.run.gone(id)));
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  for (const [task, policy] of POLICIES) {
    const isMissing = task === 'FULL' && uplink !== undefined;
    const reason = isMissing ? ` (NOT RUN: ${uplink.reason})` : '';
    it.skipIf(isMissing).each(REACHED)(`with ${policy} it cannot %s${reason}`, (_, names) => {
      expect(findSuccesses(readAttempts(world.worktreeOf(task), ''), names)).toEqual([]);
    });
  }

  it('reaches no other program', () => {
    expect(world.received).toEqual([]);
  });
});
