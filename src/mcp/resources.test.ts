import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, say } from '../../test/mcp/connect.ts';
import { openTestProject, type OpenedProject } from '../../test/mcp/open-project.ts';
import { PLACEHOLDERS } from '../protocol/placeholder.ts';
import { parseResult } from '../protocol/result.ts';
import { parseThoughtRecord } from '../protocol/thought-record.ts';

let backend: OpenedProject;
let client: Client;

beforeEach(async () => {
  backend = await openTestProject();
  client = await connect(backend);
  await backend.asOperator('task_create', { task_id: 'P0.1.1', title: 'Setup' });
  await backend.asOperator('task_create', { task_id: 'P0.1.2', title: 'Linter' });
});
afterEach(async () => {
  await client.close();
  await backend[Symbol.asyncDispose]();
});

describe('resources', () => {
  it('are listed', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'baton://tasks',
      'baton://ledger/head',
      'baton://forms/record',
      'baton://forms/result',
      'baton://forms/handoff',
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['baton://task/{id}/brief']);
  });

  it('return what the operations return', async () => {
    expect(await read('baton://task/P0.1.1/brief')).toContain('Setup');
    expect(JSON.parse(await read('baton://tasks'))).toMatchObject({ tasks: [{ id: 'P0.1.1' }, { id: 'P0.1.2' }] });
    expect(JSON.parse(await read('baton://ledger/head'))).toMatchObject({ size: backend.project.ledger.head.size });
  });

  it('are blank forms for the claim of the connection', async () => {
    await expect(read('baton://forms/record')).rejects.toThrow('a form needs a task');
    await say(client, 'task_claim', { task_id: 'P0.1.1', as: 'a', role: 'reviewer' });
    const record = parseThoughtRecord(await read('baton://forms/record'));
    expect(record).toMatchObject({ ok: true, value: { task_id: 'P0.1.1', summary: PLACEHOLDERS.summary } });
    expect(parseResult(await read('baton://forms/result'))).toMatchObject({ ok: true, value: { task_id: 'T001' } });
    const handoffs = await read('baton://forms/handoff');
    for (const to of ['fixer-agent', 'validator-agent', 'orchestrator']) expect(handoffs).toContain(`<!-- To ${to}: `);
  });

  it('show more tasks than a list by default', async () => {
    const more = Array.from({ length: 120 }, (_, i) => ({ task_id: `T${i}`, title: 'More' }));
    await Promise.all(more.map(async (task) => backend.asOperator('task_create', task)));
    const { tasks, total } = JSON.parse(await read('baton://tasks')) as { tasks: unknown[]; total: number }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    expect([tasks.length, total]).toEqual([122, 122]);
  });

  it('do not exist for an unknown task', async () => {
    await expect(read('baton://task/T9/brief')).rejects.toThrow('T9');
  });

  it('complete the id of a task', async () => {
    const ref = { type: 'ref/resource', uri: 'baton://task/{id}/brief' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'id', value: 'P0.1.2' } });
    expect(completion.values).toEqual(['P0.1.2']);
  });
});

describe('prompts', () => {
  it('cover the start and the end of work', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['take-next-task', 'hand-over']);
    expect(await prompt('take-next-task', { as: 'ada' })).toContain('task_claim with `as`: "ada"');
    expect(await prompt('take-next-task', {})).toContain('task_claim');
    expect(await prompt('hand-over', { task_id: 'P0.1.1' })).toContain('"P0.1.1"');
  });

  it('name only tools that exist', async () => {
    const { tools } = await client.listTools();
    const names = new Set(tools.map(({ name }) => name));
    const words = [await prompt('take-next-task', {}), await prompt('hand-over', {}), client.getInstructions() ?? ''];
    const named = words.flatMap((text) => text.match(/\b[a-z]+_[a-z_]+\b/g) ?? []);
    const fields = new Set(['wait_ms', 'task_id']);
    expect(named.filter((name) => !names.has(name) && !fields.has(name))).toEqual([]);
  });
});

async function read(uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  const [first] = contents;
  return first !== undefined && 'text' in first ? first.text : '';
}

async function prompt(name: string, args: Record<string, string>): Promise<string> {
  const { messages } = await client.getPrompt({ name, arguments: args });
  const content = messages[0]?.content;
  return content?.type === 'text' ? content.text : '';
}
