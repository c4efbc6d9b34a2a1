import { describe, expect, it } from 'vitest';
import { AGENT_ERRORS, HANDLER_ACTIONS, HANDLER_NAMES, type HandlerName, HANDLERS } from '../protocol/run-plan.ts';
import { OPTIONS_OF } from './check/agents.ts';
import { checkTree, runbookOf, WRITTEN } from './render.cases.ts';

/** The plan of one handler of one agent. */
function handlerIn(syntax: (typeof WRITTEN)[number], name: HandlerName, value: unknown): unknown {
  const checked = checkTree({ agents: { a: { run: './agent', [name]: value } } }, syntax);
  if (!checked.ok) return checked.problems[0].message;
  return checked.value.agents.get('a')?.[name];
}

/** An action with its required options. */
function complete(action: string): object {
  return action === 'gate' ? { action, run: 'npm test' } : { action };
}

describe.each(WRITTEN)('on_stop in $syntax', (syntax) => {
  it('may be signal, in the simple form', () => {
    expect(handlerIn(syntax, 'on_stop', 'signal')).toEqual({ action: 'signal' });
  });

  it('may be idle, in the object form', () => {
    expect(handlerIn(syntax, 'on_stop', { action: 'idle' })).toEqual({ action: 'idle' });
  });

  it('may be escalate', () => {
    expect(handlerIn(syntax, 'on_stop', 'escalate')).toEqual({ action: 'escalate' });
  });

  it('is absent if omitted: the default depends on where the agent runs', () => {
    const checked = checkTree({ agents: { a: { run: './agent' } } }, syntax);
    expect(checked.ok && 'on_stop' in (checked.value.agents.get('a') ?? {})).toBe(false);
  });

  it('may not be nudge, with the allowed actions in the hint', () => {
    const says = 'Invalid agents.a.on_stop: nudge (expected: signal, idle, escalate)';
    expect(handlerIn(syntax, 'on_stop', 'nudge')).toBe(says);
    expect(handlerIn(syntax, 'on_stop', { action: 'nudge' })).toBe(says.replace('on_stop', 'on_stop.action'));
  });
});

describe.each(HANDLER_NAMES)('%s', (handler) => {
  it.each<string>(HANDLERS[handler].actions)('allows %s, and both forms mean the same', (action) => {
    const expected = handler === 'on_error' ? { any: complete(action) } : complete(action);
    for (const syntax of WRITTEN) {
      expect(handlerIn(syntax, handler, complete(action))).toEqual(expected);
      // A gate has no short form, because it needs a command.
      expect(handlerIn(syntax, handler, action === 'gate' ? complete(action) : action)).toEqual(expected);
    }
  });

  it.each(HANDLER_ACTIONS.filter((action) => !(HANDLERS[handler].actions as readonly string[]).includes(action)))(
    'does not allow %s',
    (action) => {
      for (const value of [action, complete(action)]) {
        const message = handlerIn(WRITTEN[0], handler, value);
        expect(message).toContain(`: ${action} (expected: ${HANDLERS[handler].actions.join(', ')})`);
      }
    },
  );

  it.each(
    HANDLERS[handler].actions.flatMap((action) =>
      ['message', 'attempts', 'cooldown', 'run', 'timeout', 'append'].map((option) => ({ action, option })),
    ),
  )('$action with $option', ({ action, option }) => {
    const values = { message: 'm', attempts: 2, cooldown: '5s', run: 'true', timeout: '1m', append: true };
    const value = { ...complete(action), [option]: Object.entries(values).find(([name]) => name === option)?.[1] };
    const table: Readonly<Record<string, readonly string[]>> = OPTIONS_OF;
    const allowed = (handler === 'on_stop' && option === 'attempts') || table[action]?.includes(option);
    const checked = handlerIn(WRITTEN[0], handler, value);
    const refusal = `${handler}: ${option} has no effect for the action ${action}`;
    expect(typeof checked === 'object' ? 'allowed' : checked).toBe(allowed ? 'allowed' : refusal);
  });
});

describe('the options of a handler', () => {
  const parse = (value: unknown): unknown => handlerIn(WRITTEN[0], 'on_idle', value);

  it('are kept, with times in milliseconds', () => {
    expect(parse({ action: 'nudge', message: 'Go on.', attempts: 3, cooldown: '500ms' })).toEqual({
      action: 'nudge',
      message: 'Go on.',
      attempts: 3,
      cooldown_ms: 500,
    });
    expect(parse({ action: 'gate', run: 'npm test', timeout: '10m', attempts: 'forever' })).toEqual({
      action: 'gate',
      run: 'npm test',
      timeout_ms: 600_000,
      attempts: 'forever',
    });
  });

  it.each([0, -1, 1.5, 1001, 'always', true])('refuse attempts = %s', (attempts) => {
    expect(parse({ action: 'nudge', attempts })).toMatch(/attempts/);
  });

  it('refuse a gate without a command, in both forms', () => {
    expect(parse('gate')).toBe('on_idle: a gate needs a command');
    expect(parse({ action: 'gate' })).toBe('on_idle: a gate needs a command');
  });
});

describe('on_error by kind of error', () => {
  it('has a handler for each, and `any` for the others', () => {
    const table = { rate_limited: 'wait', unauthorized: { action: 'escalate', message: 'Log in.' }, any: 'fail' };
    for (const syntax of WRITTEN) {
      expect(handlerIn(syntax, 'on_error', table)).toEqual({
        rate_limited: { action: 'wait' },
        unauthorized: { action: 'escalate', message: 'Log in.' },
        any: { action: 'fail' },
      });
    }
  });

  it.each(AGENT_ERRORS)('includes %s', (kind) => {
    const agent = runbookOf({ agents: { a: { run: './agent', on_error: { [kind]: 'fail' } } } }).agents.get('a');
    expect(agent?.on_error).toEqual({ [kind]: { action: 'fail' } });
  });

  it('refuses an unknown kind', () => {
    const checked = checkTree({ agents: { a: { run: './agent', on_error: { rate_limit: 'wait' } } } });
    expect(checked).toMatchObject({
      problems: [{ message: 'Unknown field: agents.a.on_error.rate_limit', hint: 'Did you mean `rate_limited`?' }],
    });
  });
});
