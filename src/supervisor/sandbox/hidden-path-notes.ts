import type { HiddenPath } from '../../protocol/sandbox.ts';

/**
 * Reports hidden paths that a tool requested, once each, with the runbook's line that allows them. The output is
 * searched, because tools name the path in their error and leave no other trace.
 */
export class HiddenPathNotes {
  #left: readonly HiddenPath[];
  /** Paths that exist inside, also below a hidden one: the worktree lies in the main checkout. */
  readonly #visible: readonly string[];
  readonly #print: (line: string) => void;
  /** The end of the last piece, because a path may be split over two pieces. */
  #rest = '';

  constructor(hidden: readonly HiddenPath[], visible: readonly string[], print: (line: string) => void) {
    this.#left = hidden;
    this.#visible = visible;
    this.#print = print;
  }

  push(chunk: Buffer): void {
    if (this.#left.length === 0) return;
    const text = this.#rest + chunk.toString('latin1');
    this.#rest = text.slice(-LONGEST);
    const isNamed = (path: string): boolean => names(text, path, this.#visible);
    for (const hidden of this.#left.filter(({ path, shown }) => isNamed(path) || isNamed(shown))) {
      this.#left = this.#left.filter((each) => each !== hidden);
      this.#print(`baton: ${hidden.shown} is hidden in the sandbox. To allow it: sandbox.read = ["${hidden.shown}"]`);
    }
  }
}

/**
 * Reports whether an error text names the path or a hidden one below it. A relative path, such as the project's `.`,
 * would occur in every text. A name that the text cuts off is read again with the next piece.
 */
function names(text: string, path: string, visible: readonly string[]): boolean {
  if (!/^[~/]/.test(path)) return false;
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + path.length] ?? ' '];
    const [whole = ''] = /^[^\s'"`()<>,;:]*/.exec(text.slice(at, at + LONGEST)) ?? [];
    if (at + whole.length === text.length) continue;
    if (visible.some((each) => whole === each || whole.startsWith(`${each}/`))) continue;
    if (
      !/[\w.-]/.test(before) &&
      !/[\w.-]/.test(after) &&
      FAILURE.test(text.slice(Math.max(0, at - AROUND), at + path.length + AROUND))
    )
      return true;
  }
  return false;
}

const FAILURE =
  /no such file|not found|cannot (?:open|find|access|read)|could not|couldn't|ENOENT|EACCES|permission denied|does not exist|unable to/i;
const AROUND = 200;
const LONGEST = 4096;
