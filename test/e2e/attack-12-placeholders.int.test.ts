import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf, resultOf, tokenOf } from '../processes/answers.ts';
import { readLedger, since } from '../processes/ledger.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { World } from '../processes/world.ts';

/** Attack 12: a session sends the unfilled forms that Baton gave it, and the task counts as recorded. */
let world: World;
beforeAll(async () => {
  world = await World.open({ AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
});
afterAll(async () => world[Symbol.asyncDispose]());

const handoff = (summary: string, status = 'success'): string => `<handoff>
  <from>implementer-agent</from>
  <to>reviewer-agent</to>
  <status>${status}</status>
  <issue_number>1</issue_number>
  <issue_url>https://baton.invalid/tasks/A</issue_url>
  <pr_number>1</pr_number>
  <pr_url>https://baton.invalid/tasks/A/pull</pr_url>
  <branch>feature/a</branch>
  <files_changed>1</files_changed>
  <tests_added>0</tests_added>
  <coverage>80%</coverage>
  <commits><commit sha="abc123">work</commit></commits>
  <summary>${summary}</summary>
</handoff>`;

it('refuses records, results and handoffs in which a field is still the placeholder', async () => {
  await world.order('task_create', { task_id: 'A', title: 'a' });
  const claim = await world.order('task_claim', { task_id: 'A', as: 'ann', role: 'implementer' });
  const client = world.client(tokenOf(claim));
  const head = world.commit(world.repository, { 'a.txt': 'a' }, 'work');
  const before = await readLedger(world);
  const lazy = record('A', head, { summary: ' fill in: what was done, and why so\n' });
  const refused = 'placeholder: the field summary of the record still has the placeholder of the form';
  expect(refusalOf(await client.call('thought_record', lazy))).toBe(refused);
  expect(refusalOf(await client.call('task_complete', lazy))).toBe(refused);
  const at = '2026-01-01T00:00:00Z';
  const log = ['FILL IN: what you did', 'x'].map((message) => ({ level: 'info', message, timestamp: at }));
  const result = { version: '1', task_id: 'T001', status: 'completed', files_modified: [], log, completed_at: at };
  expect(refusalOf(await client.forward('result_submit', result))).toMatch(
    /^placeholder: the field log\[0\]\.message /,
  );
  expect(refusalOf(await client.call('handoff_send', { handoff: handoff('FILL IN') }))).toMatch(
    /^placeholder: the field summary of the handoff /,
  );
  // Excludes `MainMoved`, because the daemon notices the commit on main at any time.
  expect((await since(world, before)).filter(({ type }) => type !== 'MainMoved')).toEqual([]);

  resultOf(await client.call('handoff_send', { handoff: handoff('Not yet ready for review.', 'pending') }));
  resultOf(await client.call('thought_record', record('A', head)));
  const signal = exitSignal('IMPLEMENTATION', 'completed', { pr_url: 'https://baton.invalid/tasks/A/pull' });
  const typed = world.baton(['emit', 'exit', JSON.stringify(signal)], { env: { BATON_TOKEN: tokenOf(claim) } });
  expect(typed).toEqual({
    code: 0,
    out: 'Accepted (completed); your session has ended, and the task keeps its phase.\n',
    err: '',
  });
});
