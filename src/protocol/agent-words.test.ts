import { describe, expect, it } from 'vitest';
import { parseAgentSignal, renderAgentSignal, validateAgentSignal } from './agent-signal.ts';
import { parseTaskUpdate, renderTaskUpdate, validateTaskUpdate } from './task-update.ts';

describe('agent signal', () => {
  it.each(['complete', 'escalate', 'continue'] as const)('accepts %s with and without a message', (kind) => {
    expect(parseAgentSignal(`{"kind":"${kind}"}`)).toEqual({ ok: true, value: { kind } });
    expect(parseAgentSignal(renderAgentSignal({ kind, message: 'é\n' }))).toEqual({
      ok: true,
      value: { kind, message: 'é\n' },
    });
  });

  it.each<[signal: unknown, errors: string[]]>([
    [{}, ['Missing required field: kind']],
    [{ kind: 'done' }, ['Invalid kind: done (expected: complete, escalate, continue)']],
    [{ kind: 'Complete' }, ['Invalid kind: Complete (expected: complete, escalate, continue)']],
    [{ kind: 'complete', message: 1 }, ['Field message must be a string']],
    [{ kind: 'complete', reason: 'x' }, ['Unknown field: reason']],
    ['complete', ['Agent signal must be an object']],
  ])('%j: %j', (signal, errors) => {
    expect(validateAgentSignal(signal)).toEqual(errors);
  });

  it('refuses YAML', () => {
    expect(parseAgentSignal('kind: complete')).toMatchObject({
      problems: [{ message: 'invalid JSON: expected a value at line 1 column 1' }],
    });
  });
});

describe('task update', () => {
  it.each([
    { status: 'todo' },
    { status: 'in_progress', progress: 0 },
    { status: 'done', progress: 100, notes: 'Done.' },
    { status: 'blocked', notes: 'Waiting for credentials' },
    { status: 'in_progress', progress: 33.3 },
  ] as const)('accepts %j', (fields) => {
    const update = { task_id: 'P0.1.1', ...fields };
    expect(validateTaskUpdate(update)).toEqual([]);
    expect(parseTaskUpdate(renderTaskUpdate(update))).toEqual({ ok: true, value: update });
  });

  it.each<[fields: Record<string, unknown>, errors: string[]]>([
    [{}, ['Missing required field: status']],
    [{ status: 'finished' }, ['Invalid status: finished (expected: todo, in_progress, blocked, done)']],
    [{ status: 'done', progress: 101 }, ['Field progress must be a number from 0 to 100']],
    [{ status: 'done', progress: -1 }, ['Field progress must be a number from 0 to 100']],
    [{ status: 'done', progress: '100' }, ['Field progress must be a number from 0 to 100']],
    [{ status: 'blocked' }, ['Missing required field: notes']],
    [{ status: 'blocked', notes: ' ' }, ['Missing required field: notes']],
    [{ status: 'blocked', progress: 101 }, ['Field progress must be a number from 0 to 100']],
    [{ status: 'done', note: 'x' }, ['Unknown field: note']],
  ])('%j: %j', (fields, errors) => {
    expect(validateTaskUpdate({ task_id: 'P0.1.1', ...fields })).toEqual(errors);
  });
});
