import { describe, expect, it } from 'vitest';
import type { Entry } from '../../ledger/format/entry.ts';
import { LogFilter, parseLogQuery } from './log-query.ts';

const NOW = Date.parse('2026-11-18T12:00:00.000Z');
const parse = (options: Record<string, string>) =>
  parseLogQuery(
    { args: [], options: new Map(Object.entries(options)) },
    { nowMs: NOW, entryTypes: ['TaskCreated', 'TaskClaimed'] },
  );

describe('the query of the log', () => {
  it('has every option, or none', () => {
    expect(parse({})).toEqual({ isAll: true });
    expect(parse({ task: 'T1', type: 'TaskCreated, TaskClaimed', actor: 'operator', since: '2h' })).toEqual({
      task_id: 'T1',
      types: ['TaskCreated', 'TaskClaimed'],
      actor: 'operator',
      sinceMs: Date.parse('2026-11-18T10:00:00.000Z'),
      isAll: false,
    });
  });

  it.each([
    [{ type: 'TaskCraeted' }, '--type: no entry has the type TaskCraeted (did you mean TaskCreated?)'],
    [{ type: 'TaskCreated,taskcreated' }, '--type: no entry has the type taskcreated (did you mean TaskCreated?)'],
    [{ type: 'Nonsense' }, '--type: no entry has the type Nonsense'],
  ])('%j is refused: an empty log would not tell why', (options, usage) => {
    expect(parse(options)).toEqual({ usage });
  });

  it.each([
    ['90m', '2026-11-18T10:30:00.000Z'],
    ['3d', '2026-11-15T12:00:00.000Z'],
    ['2026-11-17', '2026-11-17T00:00:00.000Z'],
    ['2026-11-18T09:30Z', '2026-11-18T09:30:00.000Z'],
    ['2026-11-18T09:30+02:00', '2026-11-18T07:30:00.000Z'],
  ])('--since %s starts at %s', (since, at) => {
    expect(parse({ since })).toEqual({ sinceMs: Date.parse(at), isAll: false });
  });

  it.each(['5', 'yesterday', '2026', '', '2026-13-40'])('--since %s is refused', (since) => {
    expect(parse({ since })).toEqual({ usage: expect.stringContaining('--since must be an age such as 90m') });
  });
});

it('shows entries since a time, and learns from older ones what belongs to a task', () => {
  const filter = new LogFilter({ task_id: 'T1', sinceMs: NOW, isAll: false });
  const accepts = (at: string, data: Entry['data']) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    filter.accepts({ at, actor: 'system', type: 'AgentRequested', data } as Entry, () => '');
  expect(accepts('2026-11-18T11:59:59.999Z', { task_id: 'T1', agent_id: 'a1' })).toBe(false);
  expect(accepts('2026-11-18T12:00:00.000Z', { agent_id: 'a1' })).toBe(true);
  expect(accepts('2026-11-18T12:00:00.000Z', { agent_id: 'a2' })).toBe(false);
});

it.each([
  [{ task_id: 'T12' }, 'No entry is about task T12 (did you mean T1?).'],
  [{ task_id: 'W-00009' }, 'No entry is about task W-00009.'],
  [{ task_id: 'T1' }, 'No entry matches.'],
  [{ actor: 'oprator' }, 'No entry has the actor oprator (did you mean operator?).'],
  [{ actor: 'operator:aad' }, 'No entry has the actor operator:aad (did you mean operator:ada?).'],
  [{ actor: 'operator' }, 'No entry matches.'],
])('says of %j why nothing matches', (query, said) => {
  const filter = new LogFilter({ ...query, types: ['TaskClaimed'], isAll: false });
  const entry = { at: '2026-11-18T12:00:00.000Z', actor: 'operator:ada', type: 'TaskCreated', data: { task_id: 'T1' } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  expect(filter.accepts(entry as unknown as Entry, () => '')).toBe(false);
  expect(filter.describeNone()).toBe(said);
});
