import { renderPolicy } from '../access.ts';
import type { RuleDifference } from './compare-rules.ts';
import type { GateValue } from './gate-value.ts';

/**
 * What a difference that loosens allows, in words for the person who decides; undefined if the field says it already.
 */
export function describeLoosening({ field, before, after, effect }: RuleDifference): string | undefined {
  if (effect !== 'loosens') return undefined;
  const [, agent, rest = field] = /^agents\.("(?:[^"\\]|\\.)*"|[^.]+)\.(.+)$/.exec(field) ?? [];
  const who = agent === undefined ? 'agents and commands' : `agent ${agent}`;
  for (const [pattern, words] of WORDS) {
    const found = pattern.exec(rest);
    const text = found === null ? undefined : words({ who, name: found[1] ?? '', before, after });
    if (text !== undefined) return text;
  }
  return undefined;
}

interface Told {
  readonly who: string;
  readonly name: string;
  readonly before: GateValue;
  readonly after: GateValue;
}

const WORDS: readonly (readonly [RegExp, (told: Told) => string | undefined])[] = [
  [
    /^sandbox\.mode$/,
    ({ who, after }) =>
      after === 'none' ? `${who} run without a sandbox` : `${who} run in the sandbox ${show(after)}`,
  ],
  [/^sandbox\.read$/, ({ who, before, after }) => may(who, 'read', before, after)],
  [/^sandbox\.write$/, ({ who, before, after }) => may(who, 'write', before, after)],
  [/^sandbox\.hide$/, ({ who, before, after }) => may(who, 'see', after, before)],
  [/^sandbox\.nested$/, ({ who }) => `${who} may create namespaces of their own`],
  [/^sandbox\.devcontainer$/, ({ who }) => `${who} run in the container that the repository defines`],
  [/^sandbox\.image$/, ({ who, after }) => `${who} run in the image ${show(after)}`],
  [/^(?:prompt|script)$/, ({ who }) => `${who} follows another text`],
  [/^network\.policy$/, ({ who, after }) => `${who} reach ${hosts(after)}`],
  [/^network\.hosts$/, ({ who, before, after }) => may(who, 'reach the hosts', before, after)],
  [/^network\.local$/, ({ who, before, after }) => may(who, 'reach at 127.0.0.1 the ports', before, after)],
  [/^network\.(install|checks)$/, ({ name, after }) => `${COMMANDS[name]} reach ${hosts(after)}`],
  [/^ci\.required\.(.+)\.network$/, ({ name, after }) => `the check ${name} reaches ${hosts(after)}`],
  [
    /^ci\.required\.(.+)\.env_pass$/,
    ({ name, after }) => `the check ${name} gets variables of the daemon: ${show(after)}`,
  ],
  [/^env_pass$/, ({ who, before, after }) => may(who, 'get the variables', before, after)],
  [/^env$/, ({ who, after }) => `${who} gets variables that may change what it reaches or runs: ${show(after)}`],
  [/^secrets\.(.+)$/, ({ name, after }) => (after === null ? undefined : `agents use the key ${name} of the daemon`)],
  [
    /^(?:pipelines|commands|workers)\..+\.shell$/,
    ({ after }) => `shell commands run without a sandbox: ${show(after)}`,
  ],
  [/^notify\.webhook$/, ({ after }) => `notifications are sent to ${show(after)}`],
  [/^workspace\.(copy|link)$/, ({ after }) => `each worktree gets files that git ignores: ${show(after)}`],
  [/^github\.(repository|remote)$/, ({ name, after }) => `branches go to the ${name} ${show(after)}`],
  [/^git$/, () => 'git filters run when a commit is checked out'],
  [/^workflow\.mode$/, ({ after }) => `Baton asks you less often: ${show(after)}`],
  [/^roles\.reviewer\.same_agent$/, () => 'an agent may approve its own work'],
];

const COMMANDS: Readonly<Record<string, string>> = { install: 'commands that install', checks: 'checks' };

function may(who: string, what: string, before: GateValue, after: GateValue): string | undefined {
  const known = Array.isArray(before) ? before.map(show) : [];
  const added = (Array.isArray(after) ? after.map(show) : []).filter((each) => !known.includes(each));
  return added.length === 0 ? undefined : `${who} may ${what} ${added.join(', ')}`;
}

function hosts(policy: GateValue): string {
  if (policy === 'full' || policy === null) return 'every host';
  if (policy === 'model') return "their client's API";
  if (policy === 'dev') return "their client's API, public registries and the git remotes";
  return Array.isArray(policy) ? renderPolicy(policy.map(show)) : show(policy);
}

function show(value: GateValue): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}
