import { fieldsInJson, fieldsOf, type Fields } from '../../protocol/shape/read-unknown.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { respondJson } from '../hooks/hook-server.ts';
import { splitLines } from '../stream/signal-scanner.ts';

/** What the command in front of a person is told to run there. */
export interface TerminalLaunch {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A person in front of a terminal, with the command `baton agent attach` between them and the client. */
export interface AttachedTerminal {
  readonly by: string;
  /** What their terminal is and can do; the rest of the environment is the agent's. */
  readonly env: Readonly<Record<string, string>>;
  /** Tells the command what to run. */
  open(launch: TerminalLaunch): void;
  /** `left`: the client has ended, with this code. `lost`: whoever held the line is dead. */
  readonly gone: Promise<TerminalEnd>;
  /** The conversation is with Baton again. */
  close(): void;
}

export type TerminalEnd = { readonly how: 'left'; readonly code: number | null } | { readonly how: 'lost' };

/**
 * The line to that command: one request that stays open as long as the person is there. Both sides write lines of JSON. When it breaks,
 * whoever was at the other end is dead, however that came: a closed window, a lost connection, a kill.
 */
export class TerminalSession {
  readonly #arrival = Promise.withResolvers<AttachedTerminal>();
  #isTaken = false;

  /** Resolves when somebody comes. */
  get arrival(): Promise<AttachedTerminal> {
    return this.#arrival.promise;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isTaken) return respondJson(response, 409, { ok: false, error: ALREADY_ATTACHED });
    this.#isTaken = true;
    const first = Promise.withResolvers<Fields | undefined>();
    const gone = Promise.withResolvers<TerminalEnd>();
    request.on(
      'data',
      splitLines((line) => {
        const said = fieldsInJson(line);
        first.resolve(said);
        if ('left' in said) gone.resolve({ how: 'left', code: codeOf(said['left']) });
      }),
    );
    response.once('close', () => {
      first.resolve(undefined);
      gone.resolve({ how: 'lost' });
    });
    this.#welcome(await first.promise, gone.promise, response);
  }

  #welcome(first: Fields | undefined, gone: Promise<TerminalEnd>, response: ServerResponse): void {
    if (first === undefined) {
      // They were gone before they had said who they are.
      this.#isTaken = false;
      return;
    }
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    this.#arrival.resolve({
      by: typeof first['by'] === 'string' ? first['by'] : 'somebody',
      env: textsIn(first['env']),
      open: (launch) => void response.write(`${JSON.stringify(launch)}\n`),
      gone,
      close: () => void response.end(),
    });
  }
}

function codeOf(left: unknown): number | null {
  const { code }: { code?: unknown } = Object(left);
  return typeof code === 'number' ? code : null;
}

function textsIn(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

const ALREADY_ATTACHED = {
  code: 'agent-attached',
  message: 'somebody is in front of this agent already',
  hint: 'Wait until they have left.',
} as const;
