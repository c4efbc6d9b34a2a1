import type { AgentPlan } from '../../protocol/run-plan.ts';

const JUDGES = ['result', 'handoff', 'exit'] as const;
const WRITES = ['result', 'thought_record', 'handoff', 'exit'] as const;
const HANDS_ON = ['handoff', 'exit'] as const;

/**
 * The agents of the built-in workflow, as `runbooks/issue.toml` shows them; a test compares the two. A project's agent of the same name
 * inherits every field it does not set.
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

const BY_NAME: ReadonlyMap<string, AgentPlan> = new Map(BUILT_IN_AGENTS.map((agent) => [agent.name, agent]));

function findBuiltInAgent(name: string): AgentPlan | undefined {
  return BY_NAME.get(name);
}

function model(role: string, requires: NonNullable<AgentPlan['requires']>): AgentPlan {
  return { name: role, run: 'claude', role, prompt_file: `baton:prompts/${role}.md`, requires };
}

function program(role: string): AgentPlan {
  return { name: role, run: `builtin:${role}`, role, requires: HANDS_ON };
}

/** What an agent of this name inherits. It has one prompt: its own, in either form, replaces the inherited one. */
export function inheritedFields(
  name: string,
  own: { readonly prompt?: string; readonly prompt_file?: string },
): Partial<AgentPlan> {
  const { prompt_file, ...rest } = findBuiltInAgent(name) ?? {};
  const hasOwn = own.prompt !== undefined || own.prompt_file !== undefined;
  return hasOwn || prompt_file === undefined ? rest : { ...rest, prompt_file };
}
