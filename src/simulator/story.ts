import { INVARIANTS } from './auditor/invariants.ts';
import { nameOf } from './coverage.ts';
import type { Scenario } from './scenario.ts';
import type { RunResult } from './simulation.ts';
import type { StoredEntry } from './world/chain.ts';

/** Tells a failing run in words: what was set up, what went wrong, and the entries that lead to the violation. */
export function renderStory({ scenario, violation, entries }: RunResult): string {
  if (violation === undefined) return `Seed ${nameOf(scenario)}: every invariant held.`;
  return [
    `Seed ${nameOf(scenario)} breaks the invariant ${violation.invariant}: ${INVARIANTS[violation.invariant]}.`,
    `  ${violation.text}`,
    '',
    'The run:',
    ...describeScenario(scenario).map((line) => `  ${line}`),
    '',
    `The entries (${entries.length}):`,
    ...entries.map((entry) => `  ${describeEntry(entry)}`),
  ].join('\n');
}

function describeScenario({ hosts, settings, tasks, habits, faults, acts, untilMs }: Scenario): string[] {
  const { mode, checks, pulls, protects, budget, stalls, maxAgents, adopts, sandboxed } = settings;
  const flags = Object.entries({ pulls, protects, stalls, adopts, sandboxed }).filter(([, isOn]) => isOn);
  return [
    `${count(hosts, 'host')}, mode ${mode}, ${count(checks, 'check')}, budget ${budget}, at most ${count(maxAgents, 'agent')}`,
    ...(flags.length === 0 ? [] : [`with ${flags.map(([name]) => name).join(', ')}`]),
    ...tasks.map(({ atMs, kind }) => `${time(atMs)} a ${kind} task begins`),
    ...habits.map(({ process, kind, step }) => `process ${process + 1}: the agent ${kind} (step ${step})`),
    ...faults.map(({ atMs, kind, host, forMs }) => `${time(atMs)} host ${host + 1}: ${kind} for ${time(forMs)}`),
    ...acts.map(({ atMs, kind, n }) => `${time(atMs)} a person: ${kind} (${n})`),
    `${time(untilMs)} everything is healed`,
  ];
}

function describeEntry({ seq, at, actor, type, cause, data }: StoredEntry): string {
  const because = cause === null ? '' : ` (because of ${cause})`;
  const facts = Object.entries(data)
    .filter(([, value]) => value !== null && (typeof value !== 'object' || Array.isArray(value)))
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .map((fact) => (fact.length > 90 ? `${fact.slice(0, 90)}…` : fact).replaceAll('\n', ' '));
  return `${String(seq).padStart(4)} ${at.slice(11, 19)} ${actor}: ${type}${because}${facts.length === 0 ? '' : ` — ${facts.join(', ')}`}`;
}

const HIDDEN: ReadonlySet<string> = new Set([
  'xml',
  'plan',
  'options',
  'context',
  'output',
  'workers',
  'mission',
  'message',
]);

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

function time(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
