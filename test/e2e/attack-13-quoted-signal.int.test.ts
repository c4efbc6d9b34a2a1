import { expect, it } from 'vitest';
import { exitSignal } from '../processes/messages.ts';
import { readLedger } from '../processes/ledger.ts';
import { PATIENCE_MS, RunWorld } from '../processes/run-world.ts';

const EXIT = JSON.stringify(exitSignal('IMPLEMENTATION'));
const BLOCKED = JSON.stringify(exitSignal('IMPLEMENTATION', 'blocked', { notes: 'an example' }));
const at = '2026-01-01T00:00:00Z';
const RESULT = JSON.stringify({
  version: '1',
  task_id: 'T001',
  status: 'completed',
  files_modified: [],
  log: ['did it', 'nothing else'].map((message) => ({ level: 'info', message, timestamp: at })),
  completed_at: at,
});

/** Attack 13 by plain commands: each prints a signal that is not its last output before exit code 0. */
it('does not end a session by a signal that a plain command prints on the way', { timeout: PATIENCE_MS }, async () => {
  const runs = {
    document: `printf '%s\\n' 'A session ends like this:' '${BLOCKED}' 'More about that.'`,
    failing: `echo '${BLOCKED}'; exit 3`,
    errors: `echo '${BLOCKED}' >&2`,
  };
  const cases = Object.entries(runs).map(([id, run]) => `${id}) ${run};;`);
  const runbook = `
exit_protocol = true
[agents.coder]
run = '''case \${task.id} in ${cases.join(' ')} esac'''
[workers.w]
run = { agent = "coder" }
concurrency = 3
`;
  await using world = await RunWorld.open({ runbook, scripts: {} });
  for (const task_id of Object.keys(runs)) await world.ask('task_create', { task_id, title: task_id });
  const entries = await world.until('every agent has exited', async () => {
    const all = await readLedger(world.world);
    return all.filter(({ type }) => type === 'AgentExited').length >= 3 && all;
  });
  const ended = entries.filter(({ type }) => type === 'AgentSessionCompleted');
  expect(ended.map(({ data }) => [data['task_id'], data['exit_reason']])).toEqual([]);
});

/** Attack 13: an agent shows the format of an exit signal in its text, and this example ends its session. */
it('does not end a session by a quoted exit signal, and tells the agent why', { timeout: PATIENCE_MS }, async () => {
  const example = `A session ends with a message like this:\n\`\`\`json\n${BLOCKED}\n\`\`\`\nI have not begun yet.`;
  const script = [
    { say: example },
    'stop',
    { write: { path: '.baton/session/result.yaml', text: RESULT } },
    { result: '.baton/session/result.yaml' },
    { say: `Now I am done.\n\`\`\`json\n${EXIT}\n\`\`\`` },
    'stop',
  ];
  await using world = await RunWorld.open({
    runbook: `
exit_protocol = true
[agents.coder]
run = "scripted quotes.yaml"
on_stop = { action = "signal", attempts = 3 }
[workers.w]
run = { agent = "coder" }
`,
    scripts: { 'quotes.yaml': JSON.stringify(script) },
  });
  await world.ask('task_create', { task_id: 'T001', title: 'Explain how sessions end' });
  const exits = await world.until('the session has ended', async () => {
    const found = (await readLedger(world.world)).filter(({ type }) => type === 'AgentSessionCompleted');
    return found.length > 0 && found;
  });
  expect(exits.map(({ data }) => data['exit_reason'])).toEqual(['completed']);
  const { agents } = await world.ask<{ agents: readonly { id: string }[] }>('agent_list', { all: true });
  const [block, ...more] = agents.flatMap(({ id }) => world.blocks(id));
  expect(more).toEqual([]);
  expect(block).toContain('does not count, because it is quoted or you wrote more after it');
});
