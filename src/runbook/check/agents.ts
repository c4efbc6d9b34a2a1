import {
  ACP_PRESET_NAMES,
  acpCommandOf,
  HANDLER_NAMES,
  type HandlerAction,
  type HandlerName,
  isAcp,
  isModelClient,
  MODEL_CLIENT_NAMES,
} from '../../protocol/run-plan.ts';
import { didYouMean, quote } from '../../protocol/shape/problem.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { errorHandlers, type HandlerValue, inheritedFields } from '../build/build-agent.ts';
import type { Path, RunbookSubject } from './subject.ts';

const BUILT_IN_ROLES = ['prep', 'validator', 'closer'] as const;

export function checkAgents(subject: RunbookSubject): void {
  for (const [name, { run, prompt, prompt_file, cwd, acp }] of Object.entries(subject.value.agents ?? {})) {
    const path = ['agents', name] as const;
    if (prompt !== undefined && prompt_file !== undefined) {
      const message = `agent ${name} has both prompt and prompt_file`;
      subject.reportName('runbook/prompt-twice', [...path, 'prompt_file'], message, 'Keep one of the two.');
    }
    checkRun(subject, name);
    if (acpCommandOf(run ?? '') === '') {
      const hint = 'Write the command after it, as in: run = "acp:my-agent --acp".';
      subject.report('missing-field', [...path, 'run'], `agent ${name} names no command after \`acp:\``, hint);
    }
    if (acp !== undefined && !isAcp(run ?? inheritedFields(name, {}).run ?? '')) {
      const hint = `Remove it, or set \`run\` to an ACP agent: ${ACP_PRESET_NAMES.join(', ')}, or acp:COMMAND.`;
      subject.reportName(
        'runbook/not-acp',
        [...path, 'acp'],
        `agent ${name} is not an ACP agent, but has \`acp\``,
        hint,
      );
    }
    const builtIn = /^builtin:(.*)$/.exec(run ?? '')?.[1];
    if (builtIn !== undefined && !BUILT_IN_ROLES.some((role) => role === builtIn)) {
      const others = `There are: ${BUILT_IN_ROLES.map((role) => `builtin:${role}`).join(', ')}.`;
      const hint = didYouMean(builtIn, BUILT_IN_ROLES) ?? others;
      subject.report('runbook/unknown-builtin', [...path, 'run'], `there is no built-in role ${quote(builtIn)}`, hint);
    }
    for (const [field, value] of Object.entries({ prompt_file, cwd })) {
      // A path with templates is known only after they are filled.
      if (value === undefined || value.includes('${') || isRelativePath(value)) continue;
      const message = `${field} of agent ${name} must be relative to the project, and stay in it: ${quote(value)}`;
      subject.report('invalid-value', [...path, field], message, 'Write it as seen from the root of the repository.');
    }
  }
}

/** Requires `run`, and a prompt if the agent runs a model, unless a built-in agent has the same name. */
function checkRun(subject: RunbookSubject, name: string): void {
  const { run, prompt, prompt_file } = subject.value.agents?.[name] ?? {};
  const inherited = inheritedFields(name, {});
  const path = ['agents', name] as const;
  if (run === undefined && inherited.run === undefined) {
    const hint = `Add \`run\`: ${MODEL_CLIENT_NAMES.join(', ')}, acp:COMMAND, scripted FILE, or a command for the shell.`;
    subject.report('missing-field', path, `Missing required field: agents.${name}.run`, hint);
    return;
  }
  if (!isModelClient(run ?? inherited.run ?? '')) return;
  const isBlank = prompt?.trim() === '' && prompt_file === undefined;
  const hasAny = prompt !== undefined || prompt_file !== undefined || inherited.prompt_file !== undefined;
  if (hasAny && !isBlank) return;
  const message = `agent ${name} runs ${run ?? inherited.run ?? ''} and has no prompt`;
  const at = isBlank ? [...path, 'prompt'] : run === undefined ? path : [...path, 'run'];
  subject.report('runbook/no-prompt', at, message, 'Set `prompt`, or `prompt_file` with the path of a file.');
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

/** Requires a command for a gate, and refuses options without an effect. */
export function checkHandlers(subject: RunbookSubject): void {
  for (const [name, agent] of Object.entries(subject.value.agents ?? {})) {
    for (const handler of HANDLER_NAMES) {
      const path = ['agents', name, handler];
      if (handler !== 'on_error') checkHandler(handler, agent[handler], path, subject);
      else if (agent.on_error !== undefined) {
        const isByKind = typeof agent.on_error === 'object' && !('action' in agent.on_error);
        for (const [kind, value] of errorHandlers(agent.on_error))
          checkHandler(handler, value, isByKind ? [...path, kind] : path, subject);
      }
    }
  }
}

function checkHandler(
  handler: HandlerName,
  value: HandlerValue<HandlerAction> | undefined,
  path: Path,
  subject: RunbookSubject,
): void {
  if (value === undefined) return;
  const { action, ...options } = typeof value === 'string' ? { action: value } : value;
  if (action === 'gate' && (typeof value === 'string' || value.run === undefined)) {
    const hint = 'Say what it runs: { action = "gate", run = "npm test" }.';
    subject.report('runbook/gate-without-run', path, `${handler}: a gate needs a command`, hint);
  }
  // On a stop, every action blocks, and `attempts` limits the number of blocks.
  const allowed: readonly string[] = handler === 'on_stop' ? ['attempts', ...OPTIONS_OF[action]] : OPTIONS_OF[action];
  for (const option of Object.keys(options)) {
    if (allowed.includes(option)) continue;
    const message = `${handler}: ${option} has no effect for the action ${action}`;
    const hint =
      allowed.length === 0 ? `${action} has no options.` : `${action} has: ${[...new Set(allowed)].join(', ')}.`;
    subject.reportName('runbook/meaningless-option', [...path, option], message, hint);
  }
}

export function checkBudgets(subject: RunbookSubject): void {
  for (const [path, budget] of budgetsOf(subject)) {
    if (budget === undefined || Object.keys(budget).length > 0) continue;
    const hint = 'Give it tokens = 200000, cost = "$2.50" or time = "2h".';
    subject.reportName('runbook/empty-budget', path, `${path.join('.')} limits nothing`, hint);
  }
}

function budgetsOf({ value }: RunbookSubject): readonly (readonly [Path, object | undefined])[] {
  const definitions = (['agents', 'pipelines'] as const).flatMap((section) =>
    Object.entries(value[section] ?? {}).map(([name, { budget }]) => [[section, name, 'budget'], budget] as const),
  );
  const limits = (['task_budget', 'day_budget'] as const).map(
    (name) => [['limits', name], value.limits?.[name]] as const,
  );
  return [...definitions, ...limits];
}
