/** What labels say, in the forms that are common: `blocked`, `in progress`, `priority: high`, `P1`. */
export function parseLabels(names: readonly string[]): {
  readonly isBlocked: boolean;
  readonly isBegun: boolean;
  readonly priority: number;
} {
  const words = names.map((name) => name.toLowerCase().trim());
  return {
    isBlocked: words.some(isBlockedLabel),
    isBegun: words.some(isBegunLabel),
    priority: words.map(priorityOf).find((priority) => priority !== undefined) ?? 0,
  };
}

export function isBlockedLabel(name: string): boolean {
  return /^(?:status\s*[:/]\s*)?blocked$/i.test(name);
}

export function isBegunLabel(name: string): boolean {
  return /^(?:status\s*[:/]\s*)?(?:in[ _-]progress|wip|doing)$/i.test(name);
}

function priorityOf(name: string): number | undefined {
  const level = /^p([0-4])$/.exec(name)?.[1];
  if (level !== undefined) return (2 - Number(level)) * 10;
  const word = /^(?:priority\s*[:/ -]\s*)(\w+)$/.exec(name)?.[1];
  return word === undefined ? undefined : WORDS.get(word);
}

const WORDS: ReadonlyMap<string, number> = new Map([
  ['critical', 20],
  ['urgent', 20],
  ['high', 10],
  ['medium', 0],
  ['normal', 0],
  ['low', -10],
]);
