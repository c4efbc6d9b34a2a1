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
    for (const hidden of this.#left.filter((each) => isNamed(text, each, this.#visible))) {
      this.#left = this.#left.filter((each) => each !== hidden);
      this.#print(`baton: ${explain(hidden)}`);
    }
  }
}

function explain({ shown, isReadOnly }: HiddenPath): string {
  return isReadOnly === true
    ? `${shown} is read-only in the sandbox: it decides what starts here, so only a person changes it`
    : `${shown} is hidden in the sandbox. To allow it: sandbox.read = ["${shown}"]`;
}

function isNamed(text: string, { path, shown, isReadOnly }: HiddenPath, visible: readonly string[]): boolean {
  if (isReadOnly === true) return [path, shown].some((name) => names(text, name, [], READ_ONLY));
  // A relative path, such as the project's `.`, would occur in every text.
  return [path, shown].some((name) => /^[~/]/.test(name) && names(text, name, visible, FAILURE));
}

/**
 * Reports whether an error text names the path or a hidden one below it. A name that the text cuts off is read again
 * with the next piece.
 */
function names(text: string, path: string, visible: readonly string[], failure: RegExp): boolean {
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + path.length] ?? ' '];
    const [whole = ''] = /^[^\s'"`()<>,;:]*/.exec(text.slice(at, at + LONGEST)) ?? [];
    if (at + whole.length === text.length) continue;
    if (visible.some((each) => whole === each || whole.startsWith(`${each}/`))) continue;
    if (
      !/[\w.-]/.test(before) &&
      !/[\w.-]/.test(after) &&
      failure.test(text.slice(Math.max(0, at - AROUND), at + path.length + AROUND))
    )
      return true;
  }
  return false;
}

const FAILURE =
  /no such file|not found|cannot (?:open|find|access|read)|could not|couldn't|ENOENT|EACCES|permission denied|does not exist|unable to/i;
const READ_ONLY = /read-only file system|device or resource busy|EROFS|EBUSY|permission denied|EACCES/i;
const AROUND = 200;
const LONGEST = 4096;
