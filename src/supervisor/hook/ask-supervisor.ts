import { connect } from 'node:net';

/**
 * What the supervisor answers, as the client wants to read it: empty where the agent may stop. Undefined where it does not answer.
 * As much HTTP as this one exchange needs.
 */
export async function askSupervisor(port: number, token: string, input: Uint8Array): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let received = '';
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_MS, () => socket.destroy());
    socket.on('data', (piece: string) => {
      received += piece;
      const answer = decisionIn(received);
      if (answer !== undefined) resolve(answer);
    });
    socket.on('error', () => resolve(undefined));
    socket.on('close', () => resolve(undefined));
    socket.write(
      `POST /hook/stop HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-length: ${input.length}\r\n\r\n`,
    );
    socket.write(input);
  });
}

/** The supervisor itself waits for the daemon, twice at most, and for a stop before this one. */
const ANSWER_MS = 20_000;

/** Undefined until all of it is there. `{}` lets it stop, and so does an empty answer to the client. */
function decisionIn(received: string): string | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0 || !received.startsWith('HTTP/1.1 200 ')) return undefined;
  const body = received.slice(end + 4);
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null && 'decision' in answer ? body : '';
  } catch {
    return undefined;
  }
}
