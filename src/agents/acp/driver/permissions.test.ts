import { describe, expect, it } from 'vitest';
import type { Fields } from '../../../protocol/shape/read-unknown.ts';
import type { AcpLine } from '../../../streams/acp.ts';
import { answerPermission, QuestionQueue } from './permissions.ts';
import type { HookName } from './supervisor-hooks.ts';

const OPTIONS = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const CALL = { toolCallId: 'a', title: 'Run npm test', kind: 'execute', rawInput: { command: 'npm test' } };

type Answers = Partial<Record<HookName, Fields | Promise<Fields | undefined>>>;

interface Asked {
  readonly permissions?: 'ask' | 'allow';
  readonly options?: unknown;
  readonly toolCall?: object;
  readonly signal?: AbortSignal;
  readonly questions?: QuestionQueue;
}

async function ask(
  answers: Answers,
  { permissions = 'ask', options = OPTIONS, toolCall = CALL, ...given }: Asked = {},
) {
  const { signal = new AbortController().signal, questions = new QuestionQueue() } = given;
  const [lines, notes, calls]: [AcpLine[], string[], [HookName, object][]] = [[], [], []];
  let isHeld = false;
  const { outcome } = await answerPermission(
    { toolCall, options },
    {
      settings: { permissions },
      hooks: {
        call: async (name, body) => {
          calls.push([name, body]);
          return name in answers ? answers[name] : {};
        },
      },
      questions,
      turn: new AbortController().signal,
      print: (line) => void lines.push(line),
      onHeld: () => void (isHeld = true),
      onNote: (text) => void notes.push(text),
    },
    signal,
  );
  return { outcome, lines, notes, calls, isHeld };
}

function decided(behavior: string, message?: string): Fields {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior, message } } };
}

describe('a request for permission', () => {
  it('is allowed once if the runbook allows everything, after the budget was asked', async () => {
    const { outcome, calls } = await ask({}, { permissions: 'allow' });
    expect(outcome).toEqual({ outcome: 'selected', optionId: 'once' });
    expect(calls.map(([name]) => name)).toEqual(['pre-tool-use']);
  });

  it('goes to the supervisor with its input', async () => {
    const { outcome, calls, lines } = await ask({ 'permission-request': decided('allow') });
    expect(outcome).toEqual({ outcome: 'selected', optionId: 'once' });
    expect(calls[1]).toEqual(['permission-request', { tool_name: 'Bash', tool_input: { command: 'npm test' } }]);
    expect(lines).toMatchObject([{ outcome: 'asked' }, { outcome: 'allowed' }]);
  });

  it("is rejected, and the person's note is kept for the next prompt", async () => {
    const { outcome, notes } = await ask({ 'permission-request': decided('deny', 'Use the other test.') });
    expect(outcome).toEqual({ outcome: 'selected', optionId: 'no' });
    expect(notes).toEqual(['Use the other test.']);
  });

  it.each([
    ['the supervisor answers nothing', {}],
    ['the answer cannot be read', { hookSpecificOutput: 'yes' }],
  ])('is rejected if %s', async (_, answer) => {
    expect((await ask({ 'permission-request': answer })).outcome).toEqual({ outcome: 'selected', optionId: 'no' });
  });

  it('is rejected, and ends the turn, while a budget is exhausted', async () => {
    const { outcome, isHeld, calls } = await ask({ 'pre-tool-use': { continue: false } }, { permissions: 'allow' });
    expect(outcome).toEqual({ outcome: 'selected', optionId: 'no' });
    expect(isHeld).toBe(true);
    expect(calls).toHaveLength(1);
  });

  it('is cancelled with its turn, without ending the run', async () => {
    const signal = AbortSignal.abort();
    const { outcome, isHeld } = await ask({ 'pre-tool-use': Promise.resolve(undefined) }, { signal });
    expect(outcome).toEqual({ outcome: 'cancelled' });
    expect(isHeld).toBe(false);
  });

  it('waits until the question before it is answered, even if that was withdrawn', async () => {
    const questions = new QuestionQueue();
    const person = Promise.withResolvers<Fields>();
    const agent = new AbortController();
    const first = ask({ 'permission-request': person.promise }, { questions, signal: agent.signal });
    const second = ask({ 'permission-request': decided('deny') }, { questions });
    const third = ask({ 'permission-request': decided('allow') }, { questions });
    await new Promise(setImmediate);
    agent.abort();
    expect((await first).outcome).toEqual({ outcome: 'cancelled' });
    const early = await Promise.race([second, third, new Promise((resolve) => setImmediate(resolve, 'none'))]);
    expect(early).toBe('none');
    person.resolve(decided('allow'));
    expect((await second).outcome).toEqual({ outcome: 'selected', optionId: 'no' });
    expect((await third).outcome).toEqual({ outcome: 'selected', optionId: 'once' });
  });

  it('is shortened, however long its input is', async () => {
    const toolCall = { ...CALL, kind: 'none', title: 'x'.repeat(1e6), rawInput: { content: 'y'.repeat(1e6) } };
    const { calls } = await ask({ 'permission-request': decided('allow') }, { toolCall });
    expect(JSON.stringify(calls).length).toBeLessThan(100_000);
  });

  it.each([
    ['no options', []],
    ['options that are no list', 'all'],
    ['options without a known kind', [{ optionId: 'x', name: 'Yes', kind: 'yes' }]],
  ])('is cancelled if the agent offers %s', async (_, options) => {
    expect((await ask({}, { permissions: 'allow', options })).outcome).toEqual({ outcome: 'cancelled' });
  });

  it('allows always only if nothing else is offered', async () => {
    const { outcome } = await ask({}, { permissions: 'allow', options: OPTIONS.slice(0, 1) });
    expect(outcome).toEqual({ outcome: 'selected', optionId: 'always' });
  });
});
