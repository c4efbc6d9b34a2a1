/** The result of one command, call or computation. */
export interface Transcript {
  /** What was run; unique among transcripts. */
  readonly id: string;
  /** The command's exit code. */
  readonly code?: number;
  /** Output for programs, which must stay the same byte for byte. */
  readonly machine?: string;
  /** Output for people, whose wording may change. */
  readonly words?: readonly string[];
}

/** The transcript of a command with output for people. Programs depend only on its exit code. */
export function human(id: string, { code, out, err }: Output): Transcript {
  return { id, code, words: [out, err] };
}

/** The transcript of a command with output for programs. Its fields with sentences are for people. */
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
