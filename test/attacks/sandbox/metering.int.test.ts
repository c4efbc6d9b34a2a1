import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../../src/sandbox/probe.ts';
import { PATIENCE_MS, type Shown } from '../../processes/run-world.ts';
import { AttackWorld } from './attack-world.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;
const attack = (command: string, more: string): string =>
  `run = "claude"\nprompt = "go"\nenv = { ATTACK = "node spend.mjs ${command}" }\n${more}`;

/** 28 requests of 110 tokens exceed it by less than one; those in progress count as 1,000 tokens each. */
const PARALLEL = attack('parallel', 'budget = { tokens = 3000 }');
const PRICED = attack('one by one', 'budget = { cost = "$0.05" }');

describe.skipIf(!bubblewrap.works)(`40 requests with an injected key${unless}`, { timeout: PATIENCE_MS }, () => {
  let world: AttackWorld;
  let spent: readonly Shown[] = [];
  beforeAll(async () => {
    const prices =
      '[prices]\n"m-1" = { input = "$100", output = "$100" }\n"m-forged" = { input = "$0", output = "$0" }';
    world = await AttackWorld.open({ mode: 'bubblewrap', agents: { PARALLEL, PRICED }, runbook: prices });
    const ids = await Promise.all(['PARALLEL', 'PRICED'].map(async (task) => world.start(task)));
    spent = await Promise.all(ids.map(async (id) => world.run.gone(id)));
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  it('in parallel are counted before they have answers', () => {
    const asked = /asked ([\d ]+)/.exec(readFileSync(spent[0]?.log ?? '', 'utf8'))?.[1]?.split(' ') ?? [];
    expect(asked).toHaveLength(41);
    expect(asked.filter((status) => status === '200').length).toBeLessThanOrEqual(28);
    expect(asked).toContain('402');
  });

  it('are priced by the model that answered, not by the one that the client names', () => {
    const counted = { model: 'm-1', input_tokens: 500, output_tokens: 50, client_tokens: 110, cost_millicents: 5500 };
    expect(spent[1]).toMatchObject({ usage: counted });
  });
});
