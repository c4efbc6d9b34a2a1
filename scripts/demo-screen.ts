import type { Io } from '../src/cli/command.ts';
import { fieldsOf, textOf, type Fields } from '../src/protocol/shape/read-unknown.ts';

const STAGES = [
  'issue-manager',
  'prep',
  'implementer',
  'ci',
  'reviewer',
  'fixer',
  'validator',
  'merge',
  'closer',
] as const;
type Stage = (typeof STAGES)[number];

const KEPT_LINES = 8;

/** On a terminal: a tree that is repainted in place, with the newest lines below it. Otherwise only the lines. */
export class DemoScreen {
  readonly #io: Pick<Io, 'out' | 'isTerminal'>;
  readonly #visits = new Map<Stage, number>();
  readonly #lines: string[] = [];
  #now: Stage | undefined;
  #painted = 0;

  constructor(io: Pick<Io, 'out' | 'isTerminal'>) {
    this.#io = io;
  }

  /** Updates the stage from an entry. */
  note(type: string, data: Fields): void {
    const stage = stageOf(type, data);
    if (stage === undefined || stage === this.#now) return;
    this.#now = stage;
    this.#visits.set(stage, (this.#visits.get(stage) ?? 0) + 1);
    this.#paint();
  }

  say(line: string): void {
    if (!this.#io.isTerminal) return this.#io.out(`${line}\n`);
    this.#lines.push(line);
    this.#paint();
  }

  end(): void {
    this.#now = undefined;
    this.#paint();
  }

  #paint(): void {
    if (!this.#io.isTerminal) return;
    const width = Math.max(20, (process.stdout.columns || 80) - 1);
    const tree = STAGES.map((stage) => {
      const visits = this.#visits.get(stage) ?? 0;
      const sign = stage === this.#now ? '●' : visits > 0 ? '✓' : '·';
      return `  ${sign} ${stage}${visits > 1 ? ` (${visits} times)` : ''}`;
    });
    const lines = [...tree, '', ...this.#lines.slice(-KEPT_LINES)].map((line) => line.slice(0, width));
    const up = this.#painted === 0 ? '' : `\u001B[${this.#painted}A`;
    this.#io.out(`${up}${lines.map((line) => `\u001B[2K${line}\n`).join('')}\u001B[0J`);
    this.#painted = lines.length;
  }
}

function stageOf(type: string, data: Fields): Stage | undefined {
  if (type === 'ChecksRequested') return 'ci';
  if (type === 'MergeRequested') return 'merge';
  const role = type === 'TaskClaimed' ? textOf(data['role']) : textOf(fieldsOf(data['plan'])['role'] ?? '');
  return STAGES.find((stage) => stage === role);
}
