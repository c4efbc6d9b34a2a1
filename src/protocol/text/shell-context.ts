import type { TemplatePart } from './template.ts';

export type ShellContext =
  | 'word'
  | 'double-quotes'
  | 'here-document'
  | 'comment'
  /** Contexts in which the shell expands nothing, or evaluates the value; slots are refused there. */
  | 'single-quotes'
  | 'quoted-here-document'
  | 'arithmetic'
  | 'escaped';

/**
 * Finds the quoting context of each slot. A wrong guess in a rare case is safe: values are variables, so it misplaces
 * quotes but executes nothing.
 */
export function shellContexts(parts: readonly TemplatePart[]): ShellContext[] {
  const scanner: Scanner = { frames: [], isComment: false, previous: '\n', awaited: [], hereDocument: null, line: '' };
  const places: ShellContext[] = [];
  let before = '';
  for (const part of parts) {
    if (part.kind === 'text') {
      scan(part.text, scanner);
      before = part.text;
    } else {
      places.push(endsInBackslash(before) ? 'escaped' : placeOf(scanner));
      before = '';
      scanner.previous = 'x';
      scanner.line += 'x';
    }
  }
  return places;
}

type Frame = 'single' | 'double' | 'parenthesis' | 'backtick' | 'arithmetic';

interface HereDocument {
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

interface Scanner {
  readonly frames: Frame[];
  isComment: boolean;
  previous: string;
  /** Here-documents declared on this line; their texts begin on the next line. */
  readonly awaited: HereDocument[];
  hereDocument: HereDocument | null;
  line: string;
}

function placeOf({ frames, isComment, hereDocument }: Scanner): ShellContext {
  if (hereDocument !== null) return hereDocument.isQuoted ? 'quoted-here-document' : 'here-document';
  if (isComment) return 'comment';
  if (frames.includes('arithmetic')) return 'arithmetic';
  const top = frames.at(-1);
  if (top === 'single') return 'single-quotes';
  return top === 'double' ? 'double-quotes' : 'word';
}

function endsInBackslash(text: string): boolean {
  let count = 0;
  while (text[text.length - 1 - count] === '\\') count += 1;
  return count % 2 === 1;
}

function scan(text: string, scanner: Scanner): void {
  for (let at = 0; at < text.length;) {
    const taken = step(text, at, scanner);
    scanner.previous = text[at + taken - 1] ?? '';
    at += taken;
  }
}

/** Consumes the token at this offset and returns its length. */
function step(text: string, at: number, scanner: Scanner): number {
  const character = text[at] ?? '';
  if (scanner.hereDocument !== null) return inHereDocument(character, scanner.hereDocument, scanner);
  if (scanner.isComment) {
    if (character === '\n') endLine(scanner);
    return 1;
  }
  const top = scanner.frames.at(-1);
  if (top === 'single') return character === "'" ? closed(scanner, 1) : 1;
  if (character === '\\') return 2;
  if (top === 'arithmetic' && text.startsWith('))', at)) return closed(scanner, 2);
  if (text.startsWith('$((', at)) return opened(scanner, 'arithmetic', 3);
  if (text.startsWith('$(', at)) return opened(scanner, 'parenthesis', 2);
  if (character === '`') return top === 'backtick' ? closed(scanner, 1) : opened(scanner, 'backtick', 1);
  if (character === '"') return top === 'double' ? closed(scanner, 1) : opened(scanner, 'double', 1);
  return top === 'double' ? 1 : inPlainText(text, at, character, scanner);
}

function inPlainText(text: string, at: number, character: string, scanner: Scanner): number {
  const isWordStart = /[\s;|&()`]/.test(scanner.previous);
  switch (character) {
    case "'":
      return opened(scanner, 'single', 1);
    case '(':
      return isWordStart && text[at + 1] === '(' ? opened(scanner, 'arithmetic', 2) : opened(scanner, 'parenthesis', 1);
    case ')':
      return scanner.frames.at(-1) === 'parenthesis' ? closed(scanner, 1) : 1;
    case '#':
      if (isWordStart) scanner.isComment = true;
      return 1;
    case '<':
      return redirection(text, at, scanner);
    case '\n':
      endLine(scanner);
      return 1;
    default:
      return 1;
  }
}

const HERE_DOCUMENT = /<<(-?)[ \t]*(['"\\]?)([A-Za-z0-9_.-]+)/y;

function redirection(text: string, at: number, scanner: Scanner): number {
  if (text.startsWith('<<<', at)) return 3;
  HERE_DOCUMENT.lastIndex = at;
  const found = HERE_DOCUMENT.exec(text);
  if (found === null) return 1;
  const [all, dash, quote, delimiter = ''] = found;
  scanner.awaited.push({ delimiter, isQuoted: quote !== '', stripsTabs: dash === '-' });
  return all.length + (quote === "'" || quote === '"' ? 1 : 0);
}

function endLine(scanner: Scanner): void {
  scanner.isComment = false;
  scanner.hereDocument = scanner.awaited.shift() ?? null;
  scanner.line = '';
}

function inHereDocument(character: string, { delimiter, stripsTabs }: HereDocument, scanner: Scanner): number {
  if (character !== '\n') {
    scanner.line += character;
    return 1;
  }
  const line = stripsTabs ? scanner.line.replace(/^\t+/, '') : scanner.line;
  if (line === delimiter) endLine(scanner);
  scanner.line = '';
  return 1;
}

function opened({ frames }: Scanner, frame: Frame, taken: number): number {
  frames.push(frame);
  return taken;
}

function closed({ frames }: Scanner, taken: number): number {
  frames.pop();
  return taken;
}
