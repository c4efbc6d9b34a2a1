import { connect } from 'node:net';

/** `stop`: the agent ends its turn; `pre-tool-use`: it is about to use a tool. */
export type HookKind = 'stop' | 'pre-tool-use';

/**
 * Asks the supervisor. Returns an empty text if the agent may continue; undefined if there is no answer. Writes HTTP by
 * hand, because loading a client would delay every stop.
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
 * Timeouts: a stop waits for an earlier stop and twice for the daemon. A tool is held for ten minutes less ten seconds.
 */
const ANSWER_MS: Readonly<Record<HookKind, number>> = { stop: 20_000, 'pre-tool-use': 595_000 };

/**
 * Extracts the decision; undefined until the response is complete. `{}` becomes an empty output; both allow the agent
 * to continue.
 */
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
