/** `1h 30m`, `45s`: the two largest units. */
export function renderElapsedTime(ms: number): string {
  if (ms > 0 && ms < 1000) return `${ms}ms`;
  const words: string[] = [];
  let left = ms;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(`${count}${unit}`);
  }
  return words.slice(0, 2).join(' ') || '0s';
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;
