import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../api/files.ts';
import { writeStdout } from '../../api/stdio.ts';
import { isDiskFault, isShortage } from '../../protocol/resource-faults.ts';
import type { ScriptStep } from './script.ts';

export interface ScriptedOutput {
  begin(sessionId: string): void;
  say(text: string): void;
  useTool(name: string, input: object): string;
  toolResult(id: string, content: string, isError: boolean): void;
  use(used: Extract<ScriptStep, { do: 'use' }>['with']): void;
  endTurn(result: string, isError: boolean): void;
}

/** JSON lines with the fields of Claude Code that Baton reads. */
export function jsonOutput(sessionId: string): ScriptedOutput {
  let tools = 0;
  let messages = 0;
  let turn: Turn = NO_TURN;
  const print = (line: object): void => writeStdout(`${JSON.stringify({ ...line, session_id: sessionId })}\n`);
  const assistant = (block: object): void =>
    print({ type: 'assistant', message: { role: 'assistant', content: [block] }, parent_tool_use_id: null });
  return {
    begin: () =>
      print({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: ['Bash', 'Write'], model: 'scripted' }),
    say: (text) => assistant({ type: 'text', text }),
    useTool: (name, input) => {
      const id = `toolu_${(tools += 1)}`;
      assistant({ type: 'tool_use', id, name, input });
      return id;
    },
    toolResult: (id, content, isError) => {
      const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError };
      print({ type: 'user', message: { role: 'user', content: [block] }, parent_tool_use_id: null });
    },
    use: ({ input = 0, output = 0, cached = 0, cost }) => {
      const usage = { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached };
      const id = `msg_${sessionId}_${(messages += 1)}`;
      print({ type: 'assistant', message: { id, role: 'assistant', content: [], usage }, parent_tool_use_id: null });
      turn = {
        ...turn,
        inputTokens: turn.inputTokens + input,
        outputTokens: turn.outputTokens + output,
        cacheReadInputTokens: turn.cacheReadInputTokens + cached,
        ...(cost === undefined ? {} : { costUSD: (turn.costUSD ?? 0) + Number(cost.replace('$', '')) }),
      };
    },
    endTurn: (result, isError) => {
      const subtype = isError ? 'error_during_execution' : 'success';
      const used = turn === NO_TURN ? {} : { model_usage_since_last_result: { scripted: turn } };
      print({ type: 'result', subtype, is_error: isError, result, ...used });
      turn = NO_TURN;
    },
  };
}

interface Turn {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly costUSD?: number;
}

const NO_TURN: Turn = { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 0 };

/** For a person who plays a script. */
export function textOutput(): ScriptedOutput {
  return {
    begin: () => {},
    say: (text) => writeStdout(`${text}\n`),
    useTool: (name, input) => {
      writeStdout(`> ${name} ${Object.values(input).map(String).join(' ').split('\n', 1)[0]}\n`);
      return '';
    },
    use: ({ input = 0, output = 0 }) => writeStdout(`(${input} tokens in, ${output} out)\n`),
    toolResult: (_, content) => writeStdout(content === '' || content.endsWith('\n') ? content : `${content}\n`),
    endTurn: (result, isError) =>
      writeStdout(isError ? `(the turn ended with an error: ${result})\n` : '(the turn ended)\n'),
  };
}

/** For a person who takes over: shows the earlier messages, and when to write. */
export function terminalOutput(before: Conversation['messages']): ScriptedOutput {
  const text = textOutput();
  return {
    ...text,
    begin: () => {
      for (const { from, text: said } of before) writeStdout(`${from === 'user' ? 'you' : 'agent'}: ${said}\n`);
      writeStdout(ASK);
    },
    endTurn: (result, isError) => {
      text.endTurn(result, isError);
      writeStdout(ASK);
    },
  };
}

const ASK = '(type a message; Ctrl-D leaves)\n> ';

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

export interface Conversation {
  readonly id: string;
  /** Number of steps begun. A step that killed the agent is not repeated. */
  readonly position: number;
  readonly messages: readonly { readonly from: 'user' | 'agent'; readonly text: string }[];
}

/** Keeps the conversation in a file, rewritten after each change; without a folder only in memory. */
export class ConversationFile {
  readonly #path: string | undefined;
  now: Conversation;

  constructor(folder: string | undefined, id: string, isResume: boolean) {
    this.#path = folder === undefined ? undefined : join(folder, `scripted-${id}.json`);
    this.now = (isResume ? this.#read() : undefined) ?? { id, position: 0, messages: [] };
  }

  begin(position: number): void {
    this.#change({ position });
  }

  add(from: 'user' | 'agent', text: string): void {
    this.#change({ messages: [...this.now.messages, { from, text }].slice(-MAX_MESSAGES) });
  }

  #change(change: Partial<Conversation>): void {
    this.now = { ...this.now, ...change };
    try {
      if (this.#path !== undefined) writeFileAtomically(this.#path, JSON.stringify(this.now));
    } catch (error) {
      // As other clients do: on a full disk the conversation continues, and the next change writes it.
      if (!isDiskFault(error) && !isShortage(error)) throw error;
    }
  }

  #read(): Conversation | undefined {
    try {
      // Only this program writes the file.
      return JSON.parse(readFileSync(this.#path ?? '', 'utf8')) as Conversation; // oxlint-disable-line typescript/no-unsafe-type-assertion
    } catch {
      return undefined;
    }
  }
}

const MAX_MESSAGES = 1000;
