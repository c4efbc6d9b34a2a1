import { fieldsInJson, fieldsOf, findText, type Fields } from '../../protocol/shape/read-unknown.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendAnswer } from '../../api/http/respond.ts';
import { splitLines } from '../../protocol/text/split-lines.ts';

export interface TerminalLaunch {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface AttachedTerminal {
  readonly by: string;
  /** The terminal's variables; the other variables are the agent's. */
  readonly env: Readonly<Record<string, string>>;
  open(launch: TerminalLaunch): void;
  /** How it ended. `left`: the client exited with this code. `lost`: the connection to the user's command broke. */
  readonly gone: Promise<TerminalEnd>;
  close(): void;
}

export type TerminalEnd = { readonly how: 'left'; readonly code: number | null } | { readonly how: 'lost' };

/**
 * The connection to a user's terminal: one open request, in which both sides write JSON lines. If it breaks, the user's
 * command has died.
 */
export class TerminalSession {
  readonly #arrival = Promise.withResolvers<AttachedTerminal>();
  #isTaken = false;

  get arrival(): Promise<AttachedTerminal> {
    return this.#arrival.promise;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isTaken) return sendAnswer(response, { ok: false, error: ALREADY_ATTACHED });
    this.#isTaken = true;
    const first = Promise.withResolvers<Fields | undefined>();
    const gone = Promise.withResolvers<TerminalEnd>();
    request.on(
      'data',
      splitLines((line) => {
        const message = fieldsInJson(line);
        first.resolve(message);
        const { code } = fieldsOf(message['left']);
        if ('left' in message) gone.resolve({ how: 'left', code: typeof code === 'number' ? code : null });
      }),
    );
    response.once('close', () => {
      first.resolve(undefined);
      gone.resolve({ how: 'lost' });
    });
    const opening = await first.promise;
    if (opening === undefined) {
      // The connection closed before the first line.
      this.#isTaken = false;
      return;
    }
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    this.#arrival.resolve({
      by: findText(opening['by']) ?? 'somebody',
      env: textsIn(opening['env']),
      open: (launch) => void response.write(`${JSON.stringify(launch)}\n`),
      gone: gone.promise,
      close: () => void response.end(),
    });
  }
}

function textsIn(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

const ALREADY_ATTACHED = {
  code: 'agent-attached',
  message: 'another terminal is attached to this agent',
  hint: 'Wait until the other terminal detaches.',
} as const;
