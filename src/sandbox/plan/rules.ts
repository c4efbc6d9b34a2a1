import type { Mount } from '../../protocol/sandbox.ts';
import { comparePaths, isBelow, isInside, joinPath, pathBelow } from './paths.ts';

/** For one path the higher rank applies. Between a folder and a path below it, the rule of the deeper path applies. */
const RANKS = ['system', 'table', 'read', 'write', 'hide', 'session'] as const;
export type Rank = (typeof RANKS)[number];

export interface Rule {
  readonly rank: Rank;
  readonly mount: Mount;
  /**
   * Whether the rule is mounted although the same files are visible anyway: a mount point cannot be renamed or
   * replaced.
   */
  readonly isPinned?: boolean;
}

export interface ArrangedMounts {
  readonly system: readonly Mount[];
  readonly mounts: readonly Mount[];
}

/** Returns one rule for each path, folders before the paths below them, without rules that change nothing. */
export function arrangeRules(rules: readonly Rule[]): readonly Rule[] {
  const strongest = new Map<string, Rule>();
  for (const rule of rules) {
    const before = strongest.get(rule.mount.at);
    // A link of the system stays a link, even if a path of the session goes through it.
    const isSameLink = rule.mount.kind === 'link' && before?.mount.kind === 'link' && rule.mount.to === before.mount.to;
    if (before === undefined || (rankOf(rule) >= rankOf(before) && !isSameLink)) strongest.set(rule.mount.at, rule);
  }
  const hides = [...strongest.values()].filter(({ rank }) => rank === 'hide');
  const isHidden = (rule: Rule): boolean =>
    rankOf(rule) < RANKS.indexOf('hide') && hides.some(({ mount }) => isInside(rule.mount.at, mount.at));
  const inOrder = [...strongest.values()]
    .filter((rule) => !isHidden(rule))
    .sort((a, b) => comparePaths(a.mount.at, b.mount.at));
  const kept: Rule[] = [];
  for (const rule of inOrder) if (rule.isPinned === true || changesSomething(rule.mount, kept)) kept.push(rule);
  return kept;
}

function rankOf({ rank }: Rule): number {
  return RANKS.indexOf(rank);
}

function changesSomething(mount: Mount, above: readonly Rule[]): boolean {
  const around = findAround(mount.at, above);
  switch (mount.kind) {
    case 'read':
    case 'write':
      return around?.kind !== mount.kind || joinPath(around.from, pathBelow(mount.at, around.at)) !== mount.from;
    case 'scratch':
      return around?.kind !== 'scratch';
    case 'link':
      return !isVisible(mount.at, above);
    default:
      return isVisible(mount.at, above);
  }
}

/** Finds the mount that applies to a path. */
export function findAround(path: string, rules: readonly Rule[]): Mount | undefined {
  let found: Mount | undefined;
  for (const { mount } of rules) {
    if (isInside(path, mount.at) && mount.at.length >= (found?.at.length ?? 0)) found = mount;
  }
  return found;
}

/** Reports whether the session sees the outside content at this path, if there is any. */
export function isVisible(path: string, rules: readonly Rule[]): boolean {
  const around = findAround(path, rules);
  if (around === undefined || !('from' in around)) return false;
  return joinPath(around.from, pathBelow(path, around.at)) === path;
}

/**
 * Divides the rules: a container image replaces the system, but not the session's paths. What is below a session's
 * mount belongs to the session.
 */
export function divideRules(rules: readonly Rule[]): ArrangedMounts {
  const ofSession = rules.filter(({ rank }) => rank !== 'system').map(({ mount }) => mount.at);
  const isOfSession = ({ rank, mount }: Rule): boolean =>
    rank !== 'system' || ofSession.some((at) => isBelow(mount.at, at));
  return {
    system: rules.filter((rule) => !isOfSession(rule)).map(({ mount }) => mount),
    mounts: rules.filter(isOfSession).map(({ mount }) => mount),
  };
}
