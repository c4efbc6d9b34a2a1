/** One thing that is wrong with an input: a stable code, a sentence, the place, and the next thing to do. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  /** Dotted path of the value inside the message (`files_modified[0].path`); empty for the whole message. */
  readonly path: string;
  /** 1-based; null where the input was not text. Columns count characters. */
  readonly line: number | null;
  readonly column: number | null;
  readonly hint: string;
}

/** What a parser gives back: the typed value, or at least one problem. Parsers never throw. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | Refused;

export interface Refused {
  readonly ok: false;
  readonly problems: readonly [Problem, ...Problem[]];
}

/** A problem of the whole message, which has no place of its own. */
export function problem(code: string, message: string, hint: string): Problem {
  return { code, message, path: '', line: null, column: null, hint };
}

export function tooLarge(bytes: number, limit: number): Problem {
  const hint = 'Keep long logs and diffs in files, and name them in the message.';
  return problem('too-large', `input too large: ${bytes} bytes > ${limit} bytes maximum`, hint);
}

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(first: Problem, ...rest: readonly Problem[]): Refused {
  return { ok: false, problems: [first, ...rest] };
}
