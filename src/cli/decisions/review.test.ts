import { describe, expect, it } from 'vitest';
import type { Client } from '../../api/client/client.ts';
import { askOne } from './review.ts';

const ID = '3c9f3d0d-34a0-4856-88f8-ca16e3d374ee';
const OPTIONS = [
  { n: 1, label: 'Start the review', action: 'approve', recommended: true },
  { n: 2, label: 'Hand to another agent', action: 'hand_over', recommended: false },
  { n: 3, label: 'Send back with a note', action: 'send_back', recommended: false },
];

describe('a question at the terminal', () => {
  it('is asked again after an answer that the daemon refuses, with the hint', async () => {
    const desk = new Desk(['2', 'nobody', '', '3', '', '1', '']);
    desk.refusals.push(
      { code: 'bad-request', message: 'there is no agent nobody', hint: 'There are: reviewer.' },
      { code: 'no-note', message: 'work cannot be sent back without a note', hint: 'Say what must change: baton …' },
    );
    expect(await desk.ask()).toBe('answered');
    expect(desk.sent).toEqual([
      { id: ID, option: 2, agent: 'nobody' },
      { id: ID, option: 3 },
      { id: ID, option: 1 },
    ]);
    expect(desk.out).toContain('Error: there is no agent nobody [bad-request]\n  hint: There are: reviewer.\n');
    expect(desk.out).not.toContain('Say what must change');
    expect(desk.questions).toContain('What must change: ');
  });

  it('ends when another person answers it, before or after typing', async () => {
    const waiting = new Desk([]);
    const outcome = waiting.ask();
    waiting.record({ type: 'DecisionResolved', data: { decision_id: 'another' } });
    waiting.record({ type: 'DecisionResolved', data: { decision_id: ID } });
    expect(await outcome).toBe('settled');
    expect(waiting.out).toContain('Decision 3c9f3d0d is no longer open.');
    const late = new Desk(['1', '']);
    late.refusals.push({
      code: 'decision-resolved',
      message: 'it was resolved by operator:bob',
      hint: 'See it: baton …',
    });
    expect(await late.ask()).toBe('settled');
    expect(late.out).toContain('it was resolved by operator:bob');
  });

  it('is not asked if it is already settled', async () => {
    const desk = new Desk([]);
    desk.result = { kind: 'withdrawn', at: '2026-01-01T00:00:00.000Z', reason: 'it fits again' };
    expect(await desk.ask()).toBe('settled');
    expect(desk.questions).toEqual([]);
  });

  it('is not asked while an answer is not in effect yet, but shows that answer', async () => {
    const given = { option: 1, action: 'approve', label: 'Start the review', by: 'operator:bob', at: '', agent: null };
    const desk = new Desk([]);
    desk.answer = { ...given, message: null, effective_at: '2026-01-01T00:00:00.000Z' };
    expect(await desk.ask()).toBe('settled');
    expect(desk.out).toContain('Answered 1 (Start the review) by operator:bob, takes effect now\nUndo: baton decision');
    expect(desk.questions).toEqual([]);
  });

  it('ends when another client answers it with a delay', async () => {
    const desk = new Desk([]);
    const outcome = desk.ask();
    desk.record({ type: 'DecisionAnswered', data: { decision_id: ID } });
    expect(await outcome).toBe('settled');
  });

  it('stays open after s, q and the end of the input', async () => {
    expect(await new Desk(['s']).ask()).toBe('skipped');
    expect(await new Desk(['q']).ask()).toBe('quit');
    expect(await new Desk([undefined]).ask()).toBe('quit');
    expect(await new Desk(['x', '9', '2', undefined]).ask()).toBe('quit');
  });
});

/** Simulates a person who types the given lines, and a daemon with one decision. */
class Desk {
  out = '';
  result: object | null = null;
  answer: object | null = null;
  readonly questions: string[] = [];
  readonly sent: unknown[] = [];
  readonly refusals: { readonly code: string; readonly message: string; readonly hint: string }[] = [];
  readonly #lines: (string | undefined)[];
  readonly #entries: object[] = [];
  #wake = Promise.withResolvers<void>();

  constructor(lines: (string | undefined)[]) {
    this.#lines = lines;
  }

  record(entry: object): void {
    this.#entries.push(entry);
    this.#wake.resolve();
  }

  async ask(): Promise<string> {
    const client = {
      call: async (operation: string, input: unknown) => this.#call(operation, input),
      events: ({ signal }: { readonly signal: AbortSignal }) => this.#events(signal),
    };
    const typed = async (question: string, signal: AbortSignal): Promise<string | undefined> => {
      this.questions.push(question);
      if (this.#lines.length > 0) return this.#lines.shift();
      const { promise, resolve } = Promise.withResolvers<undefined>();
      signal.addEventListener('abort', () => resolve(undefined));
      return promise;
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return askOne(ID, client as unknown as Client, typed, {
      out: (text) => void (this.out += text),
      env: {},
      isTerminal: false,
    });
  }

  #call(operation: string, input: unknown): unknown {
    if (operation === 'ledger_head') return { ok: true, result: { size: 7 } };
    if (operation === 'decision_show') return { ok: true, result: this.#decision() };
    this.sent.push(input);
    const error = this.refusals.shift();
    return error === undefined
      ? { ok: true, result: { id: ID, option: 1, action: 'approve', effective_at: null, next: null } }
      : { ok: false, error };
  }

  #decision(): object {
    const evidence = {
      goal: null,
      stage: null,
      stages: [],
      items: [],
      output: null,
      diff: null,
      since_passed: null,
      mission: null,
      budget: null,
      checks: [],
      findings: [],
      claims: [],
      claims_by: null,
      waiting: [],
      cost: null,
      commands: [],
    };
    const about = {
      pipeline_id: null,
      agent_id: null,
      task_id: 'W-00001',
      answer: this.answer,
      lapsed: null,
      result: this.result,
    };
    const opened_at = '2026-01-01T00:00:00.000Z';
    return {
      id: ID,
      source: 'review',
      title: 'Ready?',
      context: 'It is.',
      opened_at,
      options: OPTIONS,
      evidence,
      ...about,
    };
  }

  async *#events(signal: AbortSignal): AsyncGenerator<object, undefined> {
    for (let seq = 8; !signal.aborted; this.#wake = Promise.withResolvers<void>()) {
      for (const entry of this.#entries.splice(0)) yield { seq: seq++, ...entry, json: JSON.stringify(entry) };
      await this.#wake.promise;
    }
    return undefined;
  }
}
