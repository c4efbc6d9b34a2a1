import { describe, expect, it } from 'vitest';
import { STREAMS } from '../../streams/reader.ts';
import { scanStream, scanText, type SignalScanner } from './signal-scanner.ts';

const SIGNAL = JSON.stringify({
  protocol: 'apm2_agent_exit',
  version: '1.0.0',
  phase_completed: 'REVIEW',
  exit_reason: 'completed',
});

type Client = keyof typeof STREAMS;
type Line = object;

interface Phrases {
  readonly says: (text: string) => Line;
  readonly uses: (input: string) => Line;
  readonly toolPrints: (text: string) => Line;
}

/** The same turn in each client's format. */
const CLIENTS: Record<Client, Phrases> = {
  'stream-json': {
    says: (text) => ({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text }] } }),
    uses: (input) => ({
      type: 'assistant',
      message: { id: 'm', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: input } }] },
    }),
    toolPrints: (content) => ({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content }] },
    }),
  },
  codex: {
    says: (text) => ({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } }),
    uses: (command) => ({ type: 'item.started', item: { id: 't', type: 'command_execution', command } }),
    toolPrints: (aggregated_output) => ({
      type: 'item.completed',
      item: { id: 't', type: 'command_execution', aggregated_output, status: 'completed' },
    }),
  },
  gemini: {
    says: (content) => ({ type: 'message', role: 'assistant', content, delta: true }),
    uses: (command) => ({ type: 'tool_use', tool_id: 't', tool_name: 'shell', parameters: { command } }),
    toolPrints: (output) => ({ type: 'tool_result', tool_id: 't', status: 'success', output }),
  },
  acp: {
    says: (text) => acp({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
    uses: (command) => acp({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'shell', rawInput: { command } }),
    toolPrints: (text) =>
      acp({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', rawOutput: { output: text } }),
  },
};

function acp(update: object): Line {
  return { type: 'update', update };
}

function play(newScanner: SignalScanner, lines: readonly Line[]): void {
  for (const line of lines) newScanner.push(Buffer.from(`${JSON.stringify(line)}\n`));
}

describe.each(['stream-json', 'codex', 'gemini', 'acp'] as const)('in the stream of %s', (client) => {
  const { says, uses, toolPrints } = CLIENTS[client];
  const newScanner = (): SignalScanner => scanStream(STREAMS[client], () => {});
  const kindAfter = (lines: readonly Line[], lastWords?: string): string => {
    const scanner = newScanner();
    play(scanner, lines);
    return scanner.endTurn(lastWords).kind;
  };

  it('a signal that ends the last message counts', () => {
    expect(kindAfter([says('I look around.'), uses('ls'), toolPrints('a'), says(`Done.\n${SIGNAL}`)])).toBe('signal');
  });

  it('an example in an earlier message of the turn does not count', () => {
    expect(kindAfter([says(`The format:\n${SIGNAL}`), uses('ls'), toolPrints('a'), says('Done.')])).toBe('early');
  });

  it('a signal before a tool call does not count, even if no message follows', () => {
    expect(kindAfter([says(SIGNAL), uses('ls'), toolPrints('a')])).toBe('early');
  });

  it('a signal that the next message follows does not count', () => {
    expect(kindAfter([says(`${SIGNAL}\n`), says('I go on now.')])).toBe('early');
  });

  it('of two signals the last one counts', () => {
    const blocked = SIGNAL.replace('completed', 'blocked');
    const scanner = newScanner();
    play(scanner, [says(`${blocked}\n`), says(SIGNAL)]);
    expect(scanner.endTurn()).toMatchObject({ kind: 'signal', signal: { exit_reason: 'completed' } });
  });

  it("a signal in a tool's input or output is not the agent's", () => {
    expect(kindAfter([uses(`echo '${SIGNAL}'`), toolPrints(SIGNAL), says('Done.')])).toBe('none');
  });

  it("the hook's copy of the last message takes precedence over the pipe", () => {
    expect(kindAfter([says('I look around.')], `Done.\n${SIGNAL}`)).toBe('signal');
    expect(kindAfter([says(SIGNAL)], `${SIGNAL}\nI wrote more.`)).toBe('early');
    expect(kindAfter([says(SIGNAL)], ' ')).toBe('signal');
  });

  it('the next turn starts without the text of the one before', () => {
    const scanner = newScanner();
    play(scanner, [says(SIGNAL)]);
    expect(scanner.endTurn().kind).toBe('signal');
    expect(scanner.endTurn().kind).toBe('none');
    play(scanner, [says('Done.')]);
    expect(scanner.endTurn().kind).toBe('none');
  });
});

it('joins the pieces of a Gemini message', () => {
  const scanner = scanStream(STREAMS.gemini, () => {});
  play(scanner, `Done: ${SIGNAL}`.split('').map(CLIENTS.gemini.says));
  expect(scanner.endTurn().kind).toBe('signal');
});

describe('in plain output, only a signal that is the last output before exit code 0 counts', () => {
  const kindAfter = (output: string, code: number | null = 0, piece = 1000): string => {
    const scanner = scanText();
    const bytes = Buffer.from(output);
    for (let at = 0; at < bytes.length; at += piece) scanner.push(bytes.subarray(at, at + piece));
    return scanner.endProcess(code).kind;
  };
  const BLOCKED = SIGNAL.replace('completed', 'blocked');
  const fence = '```';

  it.each([
    ['alone', SIGNAL],
    ['before a line break', `${SIGNAL}\n`],
    ['before white space and Windows line ends', `Done.\r\n${SIGNAL}\r\n \r\n`],
    ['in a code fence', `Done.\n${fence}json\n${SIGNAL}\n${fence}\n`],
    ['before the code that ends a colour', `\u001b[32m${SIGNAL}\u001b[0m\n`],
    ['after another one', `${BLOCKED}\n${SIGNAL}\n`],
    ['after much other output', `${'a line of { output }\n'.repeat(40_000)}${SIGNAL}\n`],
    ['after wide characters', `${'é'.repeat(200_000)}\n${SIGNAL}\n`],
  ])('counts: %s', (_, output) => {
    for (const piece of [1, 1000, 1_000_000]) expect(kindAfter(output, 0, piece)).toBe('signal');
  });

  it('counts with its own content, if there are two', () => {
    const scanner = scanText();
    scanner.push(Buffer.from(`${BLOCKED}\n${SIGNAL}\n`));
    expect(scanner.endProcess(0)).toMatchObject({ signal: { exit_reason: 'completed' } });
  });

  it.each([
    ['before other text', `${SIGNAL}\nCleaning up.\n`],
    ['before text on the same line', `${SIGNAL} was an example`],
    ['in a document that goes on', `# How sessions end\n\n${fence}json\n${SIGNAL}\n${fence}\n\nMore about that.\n`],
    ['at the end of a fenced document', `${fence}markdown\n# How to exit\n${SIGNAL}\n${fence}\n`],
    ['in a quotation', `The manual says:\n> ${SIGNAL}\n`],
    ['before one that is cut off', `${SIGNAL}\n${SIGNAL.slice(0, -5)}`],
  ])('does not count: %s', (_, output) => {
    expect(kindAfter(output)).toBe('early');
  });

  it.each([
    ['inside a larger object', `{"example": ${SIGNAL}}`],
    ['long before the end', `${SIGNAL}\n${'more output\n'.repeat(40_000)}`],
    ['nowhere', 'Done.'],
  ])('is no signal: %s', (_, output) => {
    expect(kindAfter(output)).toBe('none');
  });

  it.each([1, 143, null])('does not count if the process ends with %s', (code) => {
    expect(kindAfter(`${SIGNAL}\n`, code)).toBe('failed');
    expect(kindAfter('Failed.\n', code)).toBe('none');
  });

  it('does not count while the process runs, but a last message that a hook reports does', () => {
    const scanner = scanText();
    scanner.push(Buffer.from(SIGNAL));
    expect(scanner.endTurn().kind).toBe('none');
    expect(scanner.endTurn(`Done.\n${SIGNAL}`).kind).toBe('signal');
    expect(scanner.endTurn(`${SIGNAL}\nI wrote more.`).kind).toBe('early');
  });
});
