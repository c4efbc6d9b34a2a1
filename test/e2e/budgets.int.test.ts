import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import { readLedger } from '../processes/ledger.ts';
import { PATIENCE_MS, RunWorld, type Shown } from '../processes/run-world.ts';

/** Each pair of marks is a tool call that waits until the test continues it. */
const gate = (name: string): string => `- run: "until test -e ${name}; do sleep 0.02; done"\n`;
const mark = (name: string): string => `- run: echo $BATON_AGENT_ID ${name} >> marks.txt\n`;
const END = '- signal: complete\n- stop\n';

/** Uses 60 of 100 tokens, then 60 more while the second gate is closed. */
const inTurn = (name: string): string =>
  `- use: 60\n${mark('one')}${gate(`${name}-1`)}- use: { input: 50, output: 10 }\n${gate(`${name}-2`)}${mark('two')}${mark('three')}${END}`;

const SCRIPTS = {
  'mid-turn.yaml': inTurn('mid'),
  'restarted.yaml': inTurn('re'),
  'away.yaml': inTurn('away'),
  'cancelled.yaml': inTurn('cut'),
  'stops.yaml': `steps:\n  - use: 120\n  - stop\non_message:\n  - signal: complete\n`,
  'warned.yaml': `- use: 85\n${gate('warned')}${END}`,
  'priced.yaml': `- use: { input: 30, cost: $0.40 }\n${gate('priced')}${mark('on')}${END}`,
  'slow.yaml': `${gate('slow-1')}${mark('late')}${END}`,
};

const RUNBOOK = `
limits = { kill_after = "500ms", leave = "500ms" }
[agents]
mid = { run = "scripted mid-turn.yaml", budget = { tokens = 100 } }
re = { run = "scripted restarted.yaml", budget = { tokens = 100 } }
away = { run = "scripted away.yaml", budget = { tokens = 100 } }
cut = { run = "scripted cancelled.yaml", budget = { tokens = 100 } }
stops = { run = "scripted stops.yaml" }
warned = { run = "scripted warned.yaml", budget = { tokens = 100 } }
priced = { run = "scripted priced.yaml", budget = { cost = "$0.25" } }
slow = { run = "scripted slow.yaml", budget = { time = "1s" } }
[prices]
scripted = { input = "$10000", output = "$10000" }
[pipelines]
in_stops = { budget = { tokens = 100 }, steps = [{ name = "work", run = { agent = "stops" } }, { name = "after", run = "echo after >> after.txt" }] }
`;

async function escalated(world: RunWorld, id: string): Promise<Shown> {
  return world.until('it waits for the budget', async () => {
    const shown = await world.ask('agent_show', { id });
    return shown.status === 'escalated' && shown;
  });
}

const open = (world: RunWorld, name: string): void => writeFileSync(join(world.repository, name), '');
const marks = (world: RunWorld, id: string): string[] =>
  world.lines('marks.txt').flatMap((line) => (line.startsWith(id) ? [line.slice(id.length + 1)] : []));
const hasCalled = ({ log }: Shown, what: string): boolean =>
  existsSync(log) && readFileSync(log, 'utf8').includes(what);

/**
 * Waits until the agent is held: at the tool call after its gate, or at the gate itself, depending on when its usage
 * was reported. Only a wait can show that it does not continue anyway.
 */
async function untilHeld(world: RunWorld, shown: Shown, next: string): Promise<void> {
  const since = performance.now();
  const isQuiet = (): boolean => performance.now() > since + 3000;
  await world.until('a tool is held', () => hasCalled(shown, `BATON_AGENT_ID ${next}`) || isQuiet());
}

async function held(world: RunWorld, shown: Shown): Promise<void> {
  await untilHeld(world, shown, 'two');
  expect(marks(world, shown.id)).toEqual(['one']);
}

describe('a budget', { timeout: PATIENCE_MS * 2 }, () => {
  let world: RunWorld;
  beforeAll(async () => {
    world = await RunWorld.open({ runbook: RUNBOOK, scripts: SCRIPTS });
  });
  afterAll(async () => world.leaveEmpty());

  it('that is reached in the middle of a turn holds the next tool, and after a raise the turn continues', async () => {
    const id = await world.run('mid');
    open(world, 'mid-1');
    const shown = await escalated(world, id);
    open(world, 'mid-2');
    await held(world, shown);
    await world.resolve(shown.decision_id, 'approve');
    expect(await world.agent(id)).toMatchObject({ status: 'done' });
    expect(marks(world, id)).toEqual(['one', 'two', 'three']);
    // The agent received no message.
    expect(world.told(id)).toEqual([]);
    await world.gone(id);
    const used = await world.entries(id, 'SessionUsed');
    expect(used.at(-1)?.data).toMatchObject({ input_tokens: 110, output_tokens: 10, waiting_tokens: 0 });
  });

  inLongLane(() => {
    it('stays used up when the daemon is killed, and the next daemon continues the agent', async () => {
      const id = await world.run('re');
      open(world, 're-1');
      const shown = await escalated(world, id);
      await world.restart();
      open(world, 're-2');
      await held(world, shown);
      await world.restart();
      const again = await world.ask('agent_show', { id });
      expect(again).toMatchObject({ status: 'escalated', decision_id: shown.decision_id, start: 1 });
      await world.resolve(shown.decision_id, 'approve');
      expect(await world.agent(id)).toMatchObject({ status: 'done', start: 1 });
      expect(marks(world, id)).toEqual(['one', 'two', 'three']);
      await world.gone(id);
    });
  });

  inLongLane(() => {
    it('that is reached while the daemon is away is found when it is back', async () => {
      const id = await world.run('away');
      await world.until('it is at work', () => marks(world, id).length === 1);
      await world.world.endDaemon('SIGKILL');
      const { log } = { log: join(world.world.stateDir, 'agents', id, 'output.log') };
      open(world, 'away-1');
      await world.until('it has used more', () => readFileSync(log, 'utf8').includes('away-2'));
      await world.world.startDaemon();
      const shown = await escalated(world, id);
      open(world, 'away-2');
      await held(world, shown);
      await world.resolve(shown.decision_id, 'approve');
      expect(await world.agent(id)).toMatchObject({ status: 'done' });
      await world.gone(id);
      expect((await world.decisions()).filter(({ agent_id }) => agent_id === id)).toHaveLength(1);
    });

    it('that is not raised ends the agent, and its held tool is never run', async () => {
      const id = await world.run('cut');
      open(world, 'cut-1');
      const shown = await escalated(world, id);
      open(world, 'cut-2');
      await held(world, shown);
      await world.resolve(shown.decision_id, 'cancel');
      await world.gone(id);
      expect(await world.agent(id)).toMatchObject({ status: 'cancelled' });
      expect(marks(world, id)).toEqual(['one']);
    });
  });

  it('lets an agent stop instead of blocking it, and wakes it in the same conversation', async () => {
    const id = await world.run('in_stops');
    const shown = await world.pipeline(id);
    expect(shown).toMatchObject({ status: 'waiting', reason: 'budget: 120 of 100 tokens' });
    const agentId = await world.agentIn(id, 'work');
    await world.gone(agentId);
    expect(world.blocks(agentId)).toEqual([]);
    await world.resolve(shown.decision_id, 'approve');
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(world.told(agentId)).toContain('Continue where you stopped.');
    expect(world.lines('after.txt')).toEqual(['after']);
    await world.gone(agentId);
  });

  inLongLane(() => {
    it('is reported at 80 %, once', async () => {
      const id = await world.run('warned');
      await world.until('people are told', () => world.receiver.about('Budget of agent warned: 85 % used').length > 0);
      open(world, 'warned');
      expect(await world.agent(id)).toMatchObject({ status: 'done' });
      await world.gone(id);
      const all = await readLedger(world.world);
      const warned = all.filter(
        ({ type, data }) => type === 'BudgetWarned' && JSON.stringify(data['scope']).includes(id),
      );
      expect(warned).toHaveLength(1);
    });
  });

  it("of money uses the runbook's prices in the middle of a turn, and the client's price at its end", async () => {
    const id = await world.run('priced');
    const shown = await escalated(world, id);
    const asked = (await world.decisions()).find((each) => each.id === shown.decision_id);
    expect(asked?.context).toContain('$0.30 of $0.25');
    open(world, 'priced');
    await world.resolve(shown.decision_id, 'approve');
    expect(await world.agent(id)).toMatchObject({ status: 'done' });
    await world.gone(id);
    expect((await world.entries(id, 'SessionUsed')).at(-1)?.data).toMatchObject({ cost_millicents: 40_000 });
  });

  inLongLane(() => {
    it('of time is reached while a tool runs, and the next one is held', async () => {
      const id = await world.run('slow');
      const shown = await escalated(world, id);
      open(world, 'slow-1');
      await untilHeld(world, shown, 'late');
      expect(marks(world, id)).toEqual([]);
      await world.resolve(shown.decision_id, 'approve');
      await world.until('it goes on', () => marks(world, id).includes('late'));
      await world.ask('agent_kill', { id });
      await world.gone(id);
    });
  });

  it('is in the table of costs, which adds up by every kind of account', async () => {
    const kinds = ['agent', 'pipeline', 'task', 'day', 'model'];
    const tables = await Promise.all(kinds.map(async (by) => world.ask<Costs>('costs_get', { by })));
    // All agents have exited, so their time does not grow either.
    for (const { total } of tables) expect(total).toEqual(tables[0]?.total);
    expect(tables[0]?.total).toMatchObject({ waiting_tokens: 0 });
    expect(tables[0]?.rows.find(({ name }) => name === 'mid')).toMatchObject({ input_tokens: 110, output_tokens: 10 });
    const shown = world.world.baton(['costs', '--by', 'model']);
    expect(shown.out).toMatch(/^MODEL +IN +OUT +CACHED +COST +WORKED +WAITED +TOKENS WAITING +BUDGET\nscripted /);
  });
});

describe('the budget of a day', { timeout: PATIENCE_MS * 2 }, () => {
  it('stops several agents at once with one question, holds later ones, and one answer continues all of them', async () => {
    const crowd = ['a', 'b', 'c'];
    const scripts = Object.fromEntries(
      crowd.map((name) => [`${name}.yaml`, `- use: 40\n${gate('go')}${mark('on')}${END}`]),
    );
    const agents = crowd.map((name) => `${name} = { run = "scripted ${name}.yaml" }\n`).join('');
    const runbook = `[limits]\nkill_after = "500ms"\nleave = "500ms"\nday_budget = { tokens = 100 }\n[agents]\n${agents}late = { run = "scripted a.yaml" }\n`;
    const world = await RunWorld.open({ runbook, scripts });
    try {
      const ids = await Promise.all(crowd.map(async (name) => world.run(name)));
      const stopped = await Promise.all(ids.map(async (id) => escalated(world, id)));
      const late = await world.run('late');
      expect(await world.ask('agent_show', { id: late })).toMatchObject({
        status: 'escalated',
        process: 'wanted',
        pid: null,
      });
      await world.restart();
      open(world, 'go');
      for (const shown of stopped) await untilHeld(world, shown, 'on');
      expect(world.lines('marks.txt')).toEqual([]);
      const asked = (await world.decisions()).filter(({ source }) => source === 'budget');
      expect(asked).toHaveLength(1);
      const spent = await world.ask<Costs>('costs_get', { by: 'day' });
      // No agent overspent more than the usage in progress.
      expect(spent.total.input_tokens).toBe(120);
      expect(spent.rows[0]?.budget).toMatchObject({ measure: 'tokens', limit: 100, percent: 120 });
      await world.resolve(asked[0]?.id ?? null, 'approve');
      for (const id of [...ids, late]) expect(await world.agent(id)).toMatchObject({ status: 'done' });
      for (const id of [...ids, late]) await world.gone(id);
      expect(world.lines('marks.txt')).toHaveLength(4);
    } finally {
      await world.leaveEmpty();
    }
  });
});

interface Costs {
  readonly rows: readonly (Total & { readonly name: string | null; readonly budget: object | null })[];
  readonly total: Total;
}

interface Total {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly waiting_tokens: number;
  readonly work_ms: number;
  readonly wait_ms: number;
}
