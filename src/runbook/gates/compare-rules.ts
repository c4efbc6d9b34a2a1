import { WORKFLOW_MODES } from '../../protocol/run-plan.ts';
import type { SandboxKind } from '../../protocol/sandbox.ts';
import { findInherited, isLessAccess } from './access-fields.ts';
import { type FieldChange, isUnconfined, mayChange } from './free-fields.ts';
import { DEVCONTAINER, type GateFields } from './gate-fields.ts';
import type { GateValue } from './gate-value.ts';

/** A field that differs between two runbooks; null on the side without it or without a limit. */
export interface RuleDifference {
  readonly field: string;
  readonly before: GateValue;
  readonly after: GateValue;
  /** `changes`: neither. Only `loosens` needs a person. */
  readonly effect: 'tightens' | 'changes' | 'loosens';
}

/** `first`: nothing was adopted before, so the rules are compared with the built-in defaults. */
export type Occasion = 'first' | 'next';

/**
 * Compares two runbooks. An added check or requirement, a lower limit, or less access tightens. `mayChange` lists what a
 * change neither tightens nor loosens. Every other difference loosens, also in a field that the list does not know.
 * `auto` is the sandbox that this mode gives on this machine: without one, programs run with the user's rights.
 */
export function compareRules(
  before: GateFields,
  after: GateFields,
  auto: SandboxKind,
  occasion: Occasion = 'next',
): readonly RuleDifference[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((field): RuleDifference[] => {
    const [was, is] = [valueOf(before, field, auto), valueOf(after, field, auto)];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const change: FieldChange = {
      field,
      was,
      is,
      occasion,
      auto,
      before,
      valueAfter: (name) => valueOf(after, name, auto),
    };
    const effect = isTighter(change) ? 'tightens' : mayChange(change, after) ? 'changes' : 'loosens';
    return [{ field, before: was, after: is, effect }];
  });
}

/** The value of a field; the project's value if an agent or a check has none. */
function valueOf(fields: GateFields, field: string, auto: SandboxKind): GateValue {
  if (field === DEVCONTAINER && !usesContainer(fields, auto)) return null;
  return fields.get(field) ?? fields.get(findInherited(field) ?? '') ?? null;
}

/** Otherwise a devcontainer has no effect, and its change needs nobody. */
function usesContainer(fields: GateFields, auto: SandboxKind): boolean {
  const modes = [...fields].flatMap(([name, mode]) => (/(?:^|\.)sandbox\.mode$/.test(name) ? [mode] : []));
  return modes.some((mode) => (mode === 'auto' ? auto : mode) === 'container');
}

export function hasLoosening(differences: readonly RuleDifference[]): boolean {
  return differences.some(({ effect }) => effect === 'loosens');
}

function isTighter(change: FieldChange): boolean {
  const { field, was: before, is: after } = change;
  const isLess = isLessAccess(field, before, after);
  if (isLess !== undefined) return isLess;
  if (CHECK_LISTS.has(field)) return isPrefix(list(before), list(after));
  if (/^(?:ci\.required|workflow\.validate)\.(?!.*\.env_pass$)/.test(field))
    return field.endsWith('.timeout') ? isLower(before, after) : before === null && !isOutside(after, change);
  if (field === 'ci.protected') return isMoreProtected(list(before), list(after));
  if (field === 'workflow.mode') return rankOf(before) < rankOf(after);
  if (FLAGS.has(field)) return before === false && after === true;
  if (field === 'roles.reviewer.same_agent') return before === true && after === false;
  if (/^agents\..*\.requires$/.test(field)) return before !== null && isSubset(list(before), list(after));
  if (/(?:^|\.)env_pass$/.test(field)) return isSubset(list(after), list(before));
  if (LIMITS.test(field)) return isLower(before, after);
  return false;
}

/** A new command without a sandbox can reach everything, whatever it checks. */
function isOutside(check: GateValue, change: FieldChange): boolean {
  return typeof check === 'object' && check !== null && 'run' in check && isUnconfined(change, 'sandbox.mode');
}

const CHECK_LISTS: ReadonlySet<string> = new Set(['ci.required', 'workflow.validate']);
const FLAGS: ReadonlySet<string> = new Set(['merge.required', 'limits.no_git_commit', 'limits.no_new_deps']);
const LIMITS =
  /^limits\.(?!no_)|\.budget\.(?:tokens|cost_millicents|time_ms)$|^agents\..*\.(?:timeout_ms|max_concurrency)$|^workers\..*\.concurrency$/;

function list(value: GateValue): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Requires new checks after the existing ones: an earlier one could change what they see. */
function isPrefix(before: readonly string[], after: readonly string[]): boolean {
  return before.every((name, i) => after[i] === name);
}

function isSubset(before: readonly string[], after: readonly string[]): boolean {
  return before.every((name) => after.includes(name));
}

/** A pattern that starts with `!` removes protection, so an added one loosens. */
function isMoreProtected(before: readonly string[], after: readonly string[]): boolean {
  return isPrefix(before, after) && after.slice(before.length).every((pattern) => !pattern.startsWith('!'));
}

function rankOf(mode: GateValue): number {
  return WORKFLOW_MODES.findIndex((each) => each === mode);
}

/** Reports whether a limit is lower. No limit counts as the highest. */
function isLower(before: GateValue, after: GateValue): boolean {
  if (typeof after !== 'number') return false;
  return before === null || (typeof before === 'number' && after < before);
}
