import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { secretPartOf } from '../../src/protocol/redact-tokens.ts';
import { resultOf, tokenOf } from '../processes/answers.ts';
import { readLedger } from '../processes/ledger.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { World } from '../processes/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.open({ AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
});
afterAll(async () => world[Symbol.asyncDispose]());

const handoff = (summary: string): string => `<handoff>
  <from>implementer-agent</from>
  <to>reviewer-agent</to>
  <status>success</status>
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

/** Files that contain tokens because programs read them there. */
const HOLDERS = /(?:\.token|session\.secret|\.writer)$/;

it('a token in every message of a session is neither recorded nor shown', async () => {
  await world.order('task_create', { task_id: 'A', title: 'a' });
  const token = tokenOf(await world.order('task_claim', { task_id: 'A', as: 'ann', role: 'implementer' }));
  const secret = secretPartOf(token);
  const client = world.client(token);
  const head = world.commit(world.repository, { 'a.txt': 'a' }, `work with ${token}`);
  const text = `I used ${token}, also as {"token":"${token}"}`;
  resultOf(await client.call('task_update', { task_id: 'A', status: 'in_progress', notes: text }));
  resultOf(await client.call('thought_record', record('A', head, { summary: text })));
  const spelled = `${token.slice(0, 30)}<!-- -->${token.slice(30)} and ${token.replaceAll('.', '&#46;')}`;
  resultOf(await client.call('handoff_send', { handoff: handoff(spelled) }));
  const refused = await client.call('task_get', { task_id: token });
  expect(refused.ok).toBe(false);
  const exit = exitSignal('IMPLEMENTATION', 'completed', { notes: text });
  resultOf(await client.forward('exit_signal', exit));
  // A repeat counts as the same signal, although the recorded one is redacted.
  resultOf(await client.forward('exit_signal', exit));

  const entries = JSON.stringify(await readLedger(world));
  expect(entries.match(/\[redacted:baton-token\]/g)?.length).toBeGreaterThan(6);
  expect(entries).not.toContain(secret);
  for (const typed of ['task show A', 'task brief A', 'handoff list A', 'ledger log', 'status']) {
    const { code, out } = world.baton(typed.split(' '));
    expect([typed, code, out.includes(secret)]).toEqual([typed, 0, false]);
  }
  const files = globSync(join(world.stateDir, '**')).filter((path) => statSync(path).isFile() && !HOLDERS.test(path));
  expect(files.filter((path) => readFileSync(path).includes(secret))).toEqual([]);
});
