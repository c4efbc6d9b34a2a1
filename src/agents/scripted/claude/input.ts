/** Messages on standard input: JSON lines as Claude Code reads them, or plain lines. */
export interface ScriptedInput {
  /** The next message; undefined at the end of the input. */
  next(): Promise<string | undefined>;
  close(): void;
}

export function readMessages(input: NodeJS.ReadStream): ScriptedInput {
  const waiting: string[] = [];
  let rest = '';
  let isEnded = false;
  let wake = (): void => {};
  input.setEncoding('utf8');
  input.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    waiting.push(...lines.flatMap((line) => findMessage(line) ?? []));
    wake();
  });
  const end = (): void => {
    isEnded = true;
    wake();
  };
  for (const event of ['end', 'error', 'close']) input.once(event, end);
  return {
    next: async () => {
      while (waiting.length === 0 && !isEnded) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return waiting.shift();
    },
    close: () => void input.destroy(),
  };
}

function findMessage(line: string): string | undefined {
  if (line.trim() === '') return undefined;
  if (!line.startsWith('{')) return line;
  try {
    const value: unknown = JSON.parse(line);
    const { type, message }: { type?: unknown; message?: { content?: unknown } } = Object(value);
    if (type !== 'user') return undefined;
    const content = message?.content;
    if (typeof content === 'string') return content;
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
    return blocks.map((block) => String(Object(block)['text'] ?? '')).join('\n');
  } catch {
    return line;
  }
}
