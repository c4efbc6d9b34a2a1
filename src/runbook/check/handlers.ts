import type { HandlerAction, HandlerName } from '../../protocol/run-plan.ts';
import { HANDLER_NAMES } from '../../protocol/run-plan.ts';
import { errorHandlers, type HandlerValue } from '../build/build-agent.ts';
import type { AgentValue } from '../shape/runbook-shape.ts';
import type { Path, RunbookSubject } from './subject.ts';

type Option = 'message' | 'attempts' | 'cooldown' | 'run' | 'timeout' | 'append';

/** The options that mean something to an action. Any other would be a wish that nobody hears. */
export const OPTIONS_OF: Readonly<Record<HandlerAction, readonly Option[]>> = {
  signal: ['attempts'],
  idle: ['attempts'],
  escalate: ['message'],
  nudge: ['message', 'attempts', 'cooldown'],
  resume: ['message', 'append', 'attempts', 'cooldown'],
  gate: ['run', 'timeout', 'attempts', 'cooldown'],
  wait: ['message', 'attempts', 'cooldown'],
  done: [],
  fail: [],
};

/** A gate has a command, and no option stands where it means nothing. */
export function checkHandlers(subject: RunbookSubject): void {
  for (const [name, agent] of Object.entries(subject.value.agents ?? {})) {
    for (const { handler, value, path } of handlersOf(name, agent)) checkHandler(handler, value, path, subject);
  }
}

interface Written {
  readonly handler: HandlerName;
  readonly value: HandlerValue<HandlerAction>;
  readonly path: Path;
}

/** Every handler of an agent, those for single errors included. */
function handlersOf(name: string, agent: AgentValue): Written[] {
  return HANDLER_NAMES.flatMap((handler): Written[] => {
    const path = ['agents', name, handler];
    if (handler !== 'on_error') {
      const value = agent[handler];
      return value === undefined ? [] : [{ handler, value, path }];
    }
    const { on_error } = agent;
    if (on_error === undefined) return [];
    const isByKind = typeof on_error === 'object' && !('action' in on_error);
    return errorHandlers(on_error).map(([kind, value]) => ({
      handler,
      value,
      path: isByKind ? [...path, kind] : path,
    }));
  });
}

function checkHandler(
  handler: HandlerName,
  value: HandlerValue<HandlerAction>,
  path: Path,
  subject: RunbookSubject,
): void {
  const { action, ...options } = typeof value === 'string' ? { action: value } : value;
  if (action === 'gate' && (typeof value === 'string' || value.run === undefined)) {
    const hint = 'Say what it runs: { action = "gate", run = "npm test" }.';
    subject.report('runbook/gate-without-run', path, `${handler}: a gate needs a command`, hint);
  }
  // On a stop every action blocks, and `attempts` says how often.
  const allowed: readonly string[] = handler === 'on_stop' ? ['attempts', ...OPTIONS_OF[action]] : OPTIONS_OF[action];
  for (const option of Object.keys(options)) {
    if (allowed.includes(option)) continue;
    const message = `${handler}: ${option} means nothing for the action ${action}`;
    const hint =
      allowed.length === 0 ? `${action} has no options.` : `${action} has: ${[...new Set(allowed)].join(', ')}.`;
    const at = subject.placeOfName([...path, option]);
    subject.report('runbook/meaningless-option', [...path, option], message, hint, at);
  }
}
