import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import type { Parsed } from '../../src/protocol/shape/problem.ts';
import type { TestedDialect } from './dialects.ts';
import { mutate } from './mutate.ts';
import type { Random } from './random.ts';
import { randomFrom } from './random.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly count: number;
  /** The time limit of a single message. A second try is allowed, because the machine may have been busy. */
  readonly timeLimitMs: number;
}

export interface FuzzReport {
  readonly accepted: number;
  readonly refused: number;
  readonly slowestMs: number;
  readonly failures: readonly FuzzFailure[];
}

interface FuzzFailure {
  readonly what: string;
  readonly input: Uint8Array;
}

/** Feeds mutated messages to a parser, and checks its contract: see `findBrokenPromise`. */
export function fuzzDialect(
  dialect: TestedDialect,
  others: readonly TestedDialect[],
  options: FuzzOptions,
): FuzzReport {
  const random = randomFrom(options.seed);
  const seeds = textsOf(dialect);
  const donors = others.flatMap(({ samples }) => samples.map(({ text }) => text));
  const report = { accepted: 0, refused: 0, slowestMs: 0, failures: [] as FuzzFailure[] };
  for (let i = 0; i < options.count && report.failures.length < 20; i++) {
    const input = mutate(random.pick(seeds), random.pick(donors), random);
    const given = asReceived(input, random);
    const judged = judge(dialect, given);
    report.slowestMs = Math.max(report.slowestMs, judged.ms);
    report[judged.accepted ? 'accepted' : 'refused'] += 1;
    const isSlow = judged.ms > options.timeLimitMs && judge(dialect, given).ms > options.timeLimitMs;
    const what = judged.broken ?? (isSlow ? `took ${Math.round(judged.ms)} ms` : undefined);
    if (what !== undefined) report.failures.push({ what, input });
  }
  return report;
}

/** The sample files; for a dialect with both syntaxes, each message in both. */
function textsOf(dialect: TestedDialect): string[] {
  return dialect.samples.flatMap(({ text }) => {
    if (dialect.syntax !== 'YAML or JSON') return [text];
    const parsed = dialect.parse(text);
    if (!parsed.ok) throw new Error(`a sample of ${dialect.name} is not valid`);
    return [text, JSON.stringify(parsed.value, null, 2), stringify(parsed.value)];
  });
}

/** Passes half of the messages as bytes, the others as text, in which half a character may survive. */
function asReceived(bytes: Uint8Array, random: Random): string | Uint8Array {
  if (random.below(2) === 0) return bytes;
  const text = new TextDecoder().decode(bytes);
  if (random.below(8) > 0) return text;
  const at = random.below(text.length + 1);
  return text.slice(0, at) + random.pick(['\ud83d', '\ude00']) + text.slice(at);
}

function judge(
  dialect: TestedDialect,
  input: string | Uint8Array,
): { accepted: boolean; ms: number; broken: string | undefined } {
  const start = performance.now();
  try {
    const parsed = dialect.parse(input);
    const ms = performance.now() - start;
    return { accepted: parsed.ok, ms, broken: findBrokenPromise(dialect, parsed) };
  } catch (error) {
    return { accepted: false, ms: performance.now() - start, broken: `threw ${String(error)}` };
  }
}

/**
 * Finds a violation of the contract: an accepted message survives rendering and parsing; a refused one has a problem,
 * its place and a hint.
 */
function findBrokenPromise(dialect: TestedDialect, parsed: Parsed<unknown>): string | undefined {
  if (parsed.ok) {
    const again = dialect.parse(dialect.render(parsed.value));
    if (!again.ok) return `accepted, but its render is refused: ${again.problems[0].message}`;
    return isDeepStrictEqual(again.value, parsed.value) ? undefined : 'accepted, but its render is another';
  }
  for (const { code, message, hint, line, column } of parsed.problems) {
    if (code === '' || message === '' || hint === '') return 'refused without a reason';
    if (!message.isWellFormed() || !hint.isWellFormed()) return 'refused with half a character';
    if ((line === null) !== (column === null)) return 'refused at half a place';
    if (line !== null && column !== null && (line < 1 || column < 1)) return 'refused at no place';
  }
  return undefined;
}
