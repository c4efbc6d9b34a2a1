/** What one command, call or computation gave. */
export interface Transcript {
  /** What was run; no two transcripts have the same. */
  readonly id: string;
  /** The exit code of a command. */
  readonly code?: number;
  /** What programs read: it must stay the same byte for byte. */
  readonly machine?: string;
  /** What people read: its wording may change. */
  readonly words?: readonly string[];
}

/** A command whose output people read. Programs depend on its exit code only. */
export function human(id: string, { code, out, err }: Output): Transcript {
  return { id, code, words: [out, err] };
}

/** A command whose standard output programs read. Fields with sentences in it are for people. */
export function machine(id: string, { code, out, err }: Output, sentences: readonly string[] = []): Transcript {
  const words: string[] = [];
  const masked = sentences.length === 0 ? out : maskFields(out, sentences, words);
  return { id, code, machine: masked, words: [...words, ...(err === '' ? [] : [err])] };
}

export interface Output {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function maskFields(json: string, names: readonly string[], words: string[]): string {
  const text = String.raw`"(?:[^"\\]|\\.)*"`;
  const field = new RegExp(String.raw`("(?:${names.join('|')})":\s*)(${text}|\[${text}(?:,${text})*\])`, 'g');
  return json.replaceAll(field, (_, name: string, value: string) => {
    words.push(value);
    return `${name}"…"`;
  });
}
