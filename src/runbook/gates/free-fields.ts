import type { SandboxKind } from '../../protocol/sandbox.ts';
import { ALWAYS_PASSED, createNameMatcher } from '../../protocol/environment.ts';
import type { GateFields } from './gate-fields.ts';
import type { GateValue } from './gate-value.ts';

export interface FieldChange {
  readonly field: string;
  readonly was: GateValue;
  readonly is: GateValue;
  readonly occasion: 'first' | 'next';
  /** What the mode `auto` gives on this machine. */
  readonly auto: SandboxKind;
  readonly before: GateFields;
  readonly valueAfter: (field: string) => GateValue;
}

/**
 * Reports whether a person need not agree to a change: it gives sessions no more access, sends nothing elsewhere, and
 * takes away no check and no question to a person.
 */
export function mayChange(change: FieldChange, after: GateFields): boolean {
  const { field, was, is, occasion } = change;
  if (FREE.test(field)) return true;
  if (LISTS.test(field)) return hasNoMore(was, is);
  if (IN_SANDBOX.has(field)) return !isUnconfined(change, 'sandbox.mode');
  if (field === 'notify.webhook') return is === null;
  const [, kind = '', section = ''] = /^((?:agents|pipelines|commands)\.)("(?:[^"\\]|\\.)*"|[^.]+)/.exec(field) ?? [];
  if (kind === 'commands.') return true;
  if (kind === 'pipelines.')
    return field.includes('.budget.') ? isNew(change, field) : isFreeJudge(change, after, `pipelines.${section}`);
  if (kind === 'agents.') return mayAgentChange(change, after, `agents.${section}`);
  return occasion === 'first' && FREE_AT_FIRST.test(field);
}

/** Fields that decide about neither access nor gates. */
const FREE =
  /^(?:exit_protocol|project|notify\.(?:desktop|terminal|on)|workspace\.(?:branch|setup_timeout_ms))$|\.judges$/;
/** Lists of commands outside of the sandbox and of files: fewer is no more. */
const LISTS = /\.shell$|^workspace\.(?:copy|link)$|^git$/;
/** Commands that run in the project's sandbox. */
const IN_SANDBOX: ReadonlySet<string> = new Set([
  'workspace.setup',
  'workflow.install',
  'workflow.build',
  'workflow.smoke',
]);

/**
 * At the first adoption there were no earlier workers, limits and prices that a person relies on. Fewer questions to
 * people (`review_rounds`, `resumes`) and other destinations are no part of this.
 */
const FREE_AT_FIRST =
  /^(?:workers\.(?!.*\.shell$)|merge\.(?:method|into)$|prices\.|github\.(?:draft|pull_requests)$|limits\.(?!tasks\.|review_rounds$|resumes$|blocks$|max_files$|no_))/;

function mayAgentChange(change: FieldChange, after: GateFields, section: string): boolean {
  const { field, was, is, before, occasion } = change;
  const name = field.slice(section.length + 1);
  if (/^(?:sandbox|network)\./.test(name)) return false;
  if (name === 'env_pass') return hasNoMore(was, is);
  const added = !before.has(`${section}.run`);
  if (!after.has(`${section}.run`)) return isFreeJudge(change, after, section);
  if (name === 'env') return (added || (was === null && !isOutside(change, section))) && redirectsNothing(is);
  if (addsEnvironment(was, is)) return false;
  if (added) return !DRIVES.test(name) || !isOutside(change, section);
  if (name === 'role' || /^(?:requires|budget\.|timeout_ms|max_concurrency)/.test(name)) return occasion === 'first';
  if (!isFreeJudge(change, after, section)) return false;
  return !DRIVES.test(name) || !isOutside(change, section);
}

/**
 * Reports whether variables of an agent leave its access as it is. The hosts of `model`, the folders of HOME and of
 * tools, and the client's files follow from variables, and a template can carry a variable of the daemon.
 */
function redirectsNothing(env: GateValue): boolean {
  return Object.entries(typeof env === 'object' && env !== null ? env : {}).every(([name, value]) => {
    const text = JSON.stringify(value);
    if (text.includes('${env.')) return false;
    return !OF_CLIENTS.test(name) && (!(name === 'HOME' || /[/:~\\]/.test(text)) || !namesPlace(name));
  });
}

const OF_CLIENTS =
  /^(?:ANTHROPIC|AWS|AZURE|CLAUDE|CLOUD_ML|CODEX|CODE_ASSIST|COPILOT|GEMINI|GITHUB|GOOGLE|GROK|OPENAI|VERTEX)_(?!(?:.*_)?MODEL$)/i;
const namesPlace = createNameMatcher(ALWAYS_PASSED.filter((name) => name !== 'TZ'));

/** Fields with a command, a folder for it, or a text that a program follows. */
const DRIVES = /^(?:run|cwd|acp|on_|prompt|script)/;

/** A variable of the daemon, which a template carries into the session. */
function addsEnvironment(was: GateValue, is: GateValue): boolean {
  const namesOf = (value: GateValue): readonly string[] => JSON.stringify(value).match(/\$\{env\.[^}]*\}/g) ?? [];
  const known = namesOf(was);
  return namesOf(is).some((name) => !known.includes(name));
}

/** An agent without a sandbox. The field that takes it away is a difference of its own. */
function isOutside(change: FieldChange, section: string): boolean {
  return isUnconfined(change, `${section}.sandbox.mode`);
}

export function isUnconfined({ valueAfter, auto }: Pick<FieldChange, 'valueAfter' | 'auto'>, field: string): boolean {
  const mode = valueAfter(field);
  return (mode === 'auto' ? auto : mode) === 'none';
}

/** The agent that judges must stay the same. Only the first runbook may replace a built-in model by another agent. */
function isFreeJudge({ before, occasion }: FieldChange, after: GateFields, section: string): boolean {
  if (!before.has(`${section}.judges`) && !after.has(`${section}.judges`)) return true;
  const program = before.get(`${section}.run`);
  return occasion === 'first' && !(typeof program === 'string' && program.startsWith('builtin:'));
}

function isNew({ before }: FieldChange, field: string): boolean {
  return !before.has(field);
}

function hasNoMore(was: GateValue, is: GateValue): boolean {
  const [before, after] = [listOf(was), listOf(is)];
  return after.every((each) => before.includes(each));
}

function listOf(value: GateValue): readonly string[] {
  if (Array.isArray(value)) return value.map((each) => JSON.stringify(each));
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listOf) : [];
}
