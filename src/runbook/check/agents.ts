import { MODEL_CLIENT_NAMES, HANDLER_NAMES, type HandlerAction, type HandlerName } from '../../protocol/run-plan.ts';
import { didYouMean, quote } from '../../protocol/shape/problem.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { errorHandlers, type HandlerValue, inheritedFields } from '../build/build-agent.ts';
import type { AgentValue } from '../shape/runbook-shape.ts';
import type { Path, RunbookSubject } from './subject.ts';

/** Roles implemented by Baton. */
const BUILT_IN_ROLES = ['prep', 'validator', 'closer'] as const;

export function checkAgents(subject: RunbookSubject): void {
  for (const [name, { run, prompt, prompt_file, cwd }] of Object.entries(subject.value.agents ?? {})) {
    const path = ['agents', name] as const;
    if (prompt !== undefined && prompt_file !== undefined) {
      const message = `agent ${name} has both prompt and prompt_file`;
      const at = subject.placeOfName([...path, 'prompt_file']);
      subject.report('runbook/prompt-twice', [...path, 'prompt_file'], message, 'Keep one of the two.', at);
    }
    checkRun(subject, name);
    const builtIn = /^builtin:(.*)$/.exec(run ?? '')?.[1];
    if (builtIn !== undefined && !BUILT_IN_ROLES.some((role) => role === builtIn)) {
      const others = `There are: ${BUILT_IN_ROLES.map((role) => `builtin:${role}`).join(', ')}.`;
      const message = `there is no built-in role ${quote(builtIn)}`;
      subject.report(
        'runbook/unknown-builtin',
        [...path, 'run'],
        message,
        didYouMean(builtIn, BUILT_IN_ROLES) ?? others,
      );
    }
    for (const [field, value] of Object.entries({ prompt_file, cwd })) {
      // A path with templates is known only when they are filled.
      if (value === undefined || value.includes('${') || isRelativePath(value)) continue;
      const message = `${field} of agent ${name} must be relative to the project, and stay in it: ${quote(value)}`;
      subject.report('invalid-value', [...path, field], message, 'Write it as seen from the root of the repository.');
    }
  }
}

/** An agent without a built-in agent of its name must set `run`, and a prompt if it runs a model. */
function checkRun(subject: RunbookSubject, name: string): void {
  const { run, prompt, prompt_file } = subject.value.agents?.[name] ?? {};
  const inherited = inheritedFields(name, {});
  const path = ['agents', name] as const;
  if (run === undefined && inherited.run === undefined) {
    const hint = `Add \`run\`: ${MODEL_CLIENT_NAMES.join(', ')}, scripted FILE, or a command for the shell.`;
    subject.report('missing-field', path, `Missing required field: agents.${name}.run`, hint);
    return;
  }
  if (!isModelClient(run ?? inherited.run)) return;
  const isBlank = prompt?.trim() === '' && prompt_file === undefined;
  const hasAny = prompt !== undefined || prompt_file !== undefined || inherited.prompt_file !== undefined;
  if (hasAny && !isBlank) return;
  const message = `agent ${name} runs ${run ?? inherited.run ?? ''} and has no prompt`;
  subject.report(
    'runbook/no-prompt',
    isBlank ? [...path, 'prompt'] : run === undefined ? path : [...path, 'run'],
    message,
    'Set `prompt`, or `prompt_file` with the path of a file.',
  );
}

/** A model client waits for a first message and would never start without one. */
export function isModelClient(run: string | undefined): boolean {
  return MODEL_CLIENT_NAMES.includes(run ?? '');
}

type Option = 'message' | 'attempts' | 'cooldown' | 'run' | 'timeout' | 'append';

/** The options of each action; others would have no effect. */
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

/** A gate needs a command, and an option must have an effect. */
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
  // On a stop every action blocks, and `attempts` limits how often.
  const allowed: readonly string[] = handler === 'on_stop' ? ['attempts', ...OPTIONS_OF[action]] : OPTIONS_OF[action];
  for (const option of Object.keys(options)) {
    if (allowed.includes(option)) continue;
    const message = `${handler}: ${option} has no effect for the action ${action}`;
    const hint =
      allowed.length === 0 ? `${action} has no options.` : `${action} has: ${[...new Set(allowed)].join(', ')}.`;
    const at = subject.placeOfName([...path, option]);
    subject.report('runbook/meaningless-option', [...path, option], message, hint, at);
  }
}

/** A budget without a limit is a mistake. */
export function checkBudgets(subject: RunbookSubject): void {
  for (const [path, budget] of budgetsOf(subject)) {
    if (Object.keys(budget).length > 0) continue;
    const message = `${path.join('.')} limits nothing`;
    const hint = 'Give it tokens = 200000, cost = "$2.50" or time = "2h".';
    subject.report('runbook/empty-budget', path, message, hint, subject.placeOfName(path));
  }
}

function budgetsOf({ value }: RunbookSubject): readonly (readonly [Path, object])[] {
  const found: (readonly [Path, object])[] = [];
  for (const section of ['agents', 'pipelines'] as const) {
    for (const [name, { budget }] of Object.entries(value[section] ?? {}))
      if (budget !== undefined) found.push([[section, name, 'budget'], budget]);
  }
  for (const name of ['task_budget', 'day_budget'] as const) {
    const budget = value.limits?.[name];
    if (budget !== undefined) found.push([['limits', name], budget]);
  }
  return found;
}
