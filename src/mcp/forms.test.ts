import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, say } from '../../test/mcp/connect.ts';
import { COMMIT, openTestProject, type OpenedProject } from '../../test/mcp/open-project.ts';

let backend: OpenedProject;
let client: Client;

beforeEach(async () => {
  backend = await openTestProject();
  client = await connect(backend);
  await backend.asOperator('task_create', { task_id: 'T1', title: 'One', phase: 'REVIEW', role: 'reviewer' });
  await say(client, 'task_claim', { task_id: 'T1', as: 'a', role: 'reviewer' });
});
afterEach(async () => {
  await client.close();
  await backend[Symbol.asyncDispose]();
});

describe('handoff_send without a handoff', () => {
  it('offers a form for each receiver, and sends nothing', async () => {
    const size = backend.project.ledger.head.size;
    const { text, result, isError } = await say(client, 'handoff_send');
    expect(isError).toBe(false);
    expect(text.match(/^<!-- To [a-z-]+/gm)).toEqual([
      '<!-- To fixer-agent',
      '<!-- To validator-agent',
      '<!-- To orchestrator',
    ]);
    expect(result).toEqual({ task_id: 'T1', text });
    expect(backend.project.ledger.head.size).toBe(size);
  });

  it('offers the form for one receiver, by its name or its role', async () => {
    for (const to of ['validator-agent', 'validator']) {
      const { text } = await say(client, 'handoff_send', { to });
      expect(text.match(/^<!-- To [a-z-]+/gm)).toEqual(['<!-- To validator-agent']);
    }
    expect(await say(client, 'handoff_send', { to: 'prep-agent' })).toMatchObject({
      text: 'there is no handoff to prep-agent from the role reviewer',
      hint: 'Use one of: fixer-agent, validator-agent, orchestrator',
    });
  });

  it('offers a form that is refused until it is filled in', async () => {
    const { text } = await say(client, 'handoff_send', { to: 'orchestrator' });
    expect((await say(client, 'handoff_send', { handoff: text })).text).toMatch(/still has the placeholder/);
    const filled = text.replaceAll('FILL IN', 'It does not build.').replaceAll(/>0{10}</g, '>1<');
    const sent = await say(client, 'handoff_send', { handoff: filled });
    expect(sent.result).toMatchObject({ held: true, task_id: 'T1' });
  });
});

it('the refusal of an invalid handoff names the form', async () => {
  const { hint } = await say(client, 'handoff_send', { handoff: '<handoff from="reviewer-agent"/>' });
  expect(hint).toMatch(/ The form to fill in: form_get \{kind: handoff\}$/);
});

describe('form_get', () => {
  it.each([
    ['record', {}, 'summary: "FILL IN: what was done, and why so"'],
    ['result', {}, 'message: "FILL IN: what you did"'],
    ['handoff', { to: 'fixer-agent' }, '<to>fixer-agent</to>'],
  ])('gives a blank %s', async (kind, more, part) => {
    expect((await say(client, 'form_get', { kind, ...more })).text).toContain(part);
  });

  it('is for any task, by its id', async () => {
    await backend.asOperator('task_create', { task_id: 'T2', title: 'Two' });
    expect((await say(client, 'form_get', { kind: 'record', task_id: 'T2' })).text).toContain('task_id: T2');
    expect((await say(client, 'form_get', { kind: 'record', task_id: 'T9' })).text).toBe('there is no task T9');
    const other = await connect(backend);
    expect(await say(other, 'form_get', { kind: 'record' })).toMatchObject({
      text: 'a form needs a task',
      hint: 'Name the task, or claim one: task_claim {task_id: ID}',
    });
    await other.close();
  });

  it('names the latest record as the previous one', async () => {
    const record = { task_id: 'T1', branch: 'b', commit_sha: COMMIT, tests_run: [], summary: 'Done.' };
    const lists = { blockers: [], files_changed: [], related_thought_records: [] };
    const { result } = await say(client, 'thought_record', { ...record, ...lists });
    expect((await say(client, 'form_get', { kind: 'record' })).text).toContain(String(result['record_id']));
  });
});
