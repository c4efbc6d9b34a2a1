import { connect } from 'node:net';

/** `stop`: the agent wants to end its turn; `pre-tool-use`: it wants to use a tool. */
export type HookKind = 'stop' | 'pre-tool-use';

/**
 * What the supervisor answers, as the client wants to read it: empty if the agent may go on. Undefined if the supervisor does not answer.
 * As much HTTP as this one exchange needs.
 */
export async function askSupervisor(
  port: number,
  token: string,
  input: Uint8Array,
  kind: HookKind = 'stop',
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let received = '';
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_MS[kind], () => socket.destroy());
    socket.on('data', (piece: string) => {
      received += piece;
      const answer = decisionIn(received);
      if (answer !== undefined) resolve(answer);
    });
    socket.on('error', () => resolve(undefined));
    socket.on('close', () => resolve(undefined));
    socket.write(
      `POST /hook/${kind} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-length: ${input.length}\r\n\r\n`,
    );
    socket.write(input);
  });
}

/**
 * At a stop the supervisor waits for the daemon, twice at most, and for a stop before this one. A tool is held until the client's timeout
 * of ten minutes, less ten seconds.
 */
const ANSWER_MS: Readonly<Record<HookKind, number>> = { stop: 20_000, 'pre-tool-use': 595_000 };

/** Undefined until all of it is there. `{}` lets the agent go on, and so does an empty answer to the client. */
function decisionIn(received: string): string | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0 || !received.startsWith('HTTP/1.1 200 ')) return undefined;
  const body = received.slice(end + 4);
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null && Object.keys(answer).length > 0 ? body : '';
  } catch {
    return undefined;
  }
}
