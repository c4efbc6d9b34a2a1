import {
  type ActionOf,
  type AgentPlan,
  HANDLER_NAMES,
  HANDLERS,
  type HandlerAction,
  type HandlerName,
  type HandlerPlan,
} from '../../protocol/run-plan.ts';
import type { WorkerDefinition } from '../runbook.ts';
import { buildNetwork, buildSandbox } from '../shape/access-shape.ts';
import { parseDuration } from '../shape/fields.ts';
import { buildBudget } from '../shape/limits-shape.ts';
import type { AgentValue } from '../shape/runbook-shape.ts';

export function buildAgent(name: string, value: AgentValue): AgentPlan {
  const { run, budget, timeout, sandbox, network, ...rest } = value;
  const inherited = inheritedFields(name, value);
  return {
    ...inherited,
    name,
    run: run ?? inherited.run ?? '',
    ...withoutHandlers(rest),
    ...buildHandlers(value),
    ...(sandbox === undefined ? {} : { sandbox: buildSandbox(sandbox) }),
    ...(network === undefined ? {} : { network: buildNetwork(network) }),
    ...(budget === undefined ? {} : { budget: buildBudget(budget) }),
    ...(timeout === undefined ? {} : { timeout_ms: parseDuration(timeout) }),
  };
}

function withoutHandlers<V extends object>(value: V): Omit<V, HandlerName> {
  const others = Object.entries(value).filter(([field]) => !(field in HANDLERS));
  return Object.fromEntries(others) as Omit<V, HandlerName>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function buildHandlers(value: AgentValue): Pick<AgentPlan, HandlerName> {
  const written = HANDLER_NAMES.flatMap((name): [string, object][] => {
    if (name === 'on_error') return value[name] === undefined ? [] : [[name, buildErrorHandlers(value[name])]];
    return value[name] === undefined ? [] : [[name, buildHandler<HandlerAction>(value[name])]];
  });
  return Object.fromEntries(written);
}

export type HandlerValue<A extends string = string> = A | HandlerObject<A>;

interface HandlerObject<A extends string> {
  readonly action: A;
  readonly message?: string;
  readonly attempts?: number | 'forever';
  readonly cooldown?: string;
  readonly run?: string;
  readonly timeout?: string;
  readonly append?: boolean;
}

function buildHandler<A extends HandlerAction>(value: HandlerValue<A>): HandlerPlan<A> {
  if (typeof value === 'string') return { action: value };
  const { cooldown, timeout, ...rest } = value;
  return {
    ...rest,
    ...(cooldown === undefined ? {} : { cooldown_ms: parseDuration(cooldown) }),
    ...(timeout === undefined ? {} : { timeout_ms: parseDuration(timeout) }),
  };
}

type ErrorHandlers = NonNullable<AgentPlan['on_error']>;

function buildErrorHandlers(value: NonNullable<AgentValue['on_error']>): ErrorHandlers {
  return Object.fromEntries(
    errorHandlers(value).map(([kind, handler]) => [kind, buildHandler<ActionOf<'on_error'>>(handler)]),
  );
}

/** Returns handlers by kind of error; a single handler counts as `any`. */
export function errorHandlers(
  value: NonNullable<AgentValue['on_error']>,
): (readonly [string, HandlerValue<ActionOf<'on_error'>>])[] {
  return typeof value === 'string' || 'action' in value ? [['any', value]] : Object.entries(value);
}

const JUDGES = ['result', 'handoff', 'exit'] as const;
const WRITES = ['result', 'thought_record', 'handoff', 'exit'] as const;
const HANDS_ON = ['handoff', 'exit'] as const;

/**
 * The same agents as in `runbooks/issue.toml`; a test compares both. A project's agent of the same name inherits unset
 * fields.
 */
export const BUILT_IN_AGENTS: readonly AgentPlan[] = [
  model('issue-manager', HANDS_ON),
  program('prep'),
  model('implementer', WRITES),
  model('reviewer', JUDGES),
  model('fixer', WRITES),
  program('validator'),
  program('closer'),
];

/** The worker of each built-in agent, as in `runbooks/issue.toml`. */
export const BUILT_IN_WORKERS: ReadonlyMap<string, WorkerDefinition> = new Map(
  BUILT_IN_AGENTS.map(({ name: agent }) => {
    const name = agent === 'prep' ? 'preparers' : `${agent}s`;
    return [name, { name, roles: [agent], workflow: true, concurrency: 4, run: { kind: 'agent', agent } }];
  }),
);

export function isBuiltInAgent(name: string): boolean {
  return BY_NAME.has(name);
}

const BY_NAME: ReadonlyMap<string, AgentPlan> = new Map(BUILT_IN_AGENTS.map((agent) => [agent.name, agent]));

function model(role: string, requires: NonNullable<AgentPlan['requires']>): AgentPlan {
  return { name: role, run: 'claude', role, prompt_file: `baton:prompts/${role}.md`, requires };
}

function program(role: string): AgentPlan {
  return { name: role, run: `builtin:${role}`, role, requires: HANDS_ON };
}

/** The fields that an agent of this name inherits. Its own `prompt` or `prompt_file` replaces the inherited prompt. */
export function inheritedFields(
  name: string,
  own: { readonly prompt?: string; readonly prompt_file?: string },
): Partial<AgentPlan> {
  const { prompt_file, ...rest } = BY_NAME.get(name) ?? {};
  const hasOwn = own.prompt !== undefined || own.prompt_file !== undefined;
  return hasOwn || prompt_file === undefined ? rest : { ...rest, prompt_file };
}
