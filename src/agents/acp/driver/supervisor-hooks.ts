import { delay, openConnection } from '../../../api/client/http.ts';
import { type Fields, fieldsInJson } from '../../../protocol/shape/read-unknown.ts';

export type HookName = 'stop' | 'pre-tool-use' | 'permission-request';

/** Calls the hooks of the supervisor. A call may take as long as a person needs to decide. */
export class SupervisorHooks {
  readonly #port: number;
  readonly #token: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.#port = Number(URL.parse(env['BATON_URL'] ?? '')?.port ?? 0);
    this.#token = env['BATON_TOKEN'] ?? '';
  }

  /** Resolves to undefined if the supervisor has exited. The caller must then end the agent. */
  async call(name: HookName, body: object, signal?: AbortSignal): Promise<Fields | undefined> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const answer = await this.#post(name, JSON.stringify(body), signal);
      if (answer !== undefined) return answer;
      if (signal?.aborted === true) return undefined;
      await delay(RETRY_MS);
    }
    return undefined;
  }

  async #post(name: HookName, body: string, signal: AbortSignal | undefined): Promise<Fields | undefined> {
    const connection = await openConnection({ host: '127.0.0.1', port: this.#port });
    if (connection === undefined) return undefined;
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const received = await connection.send({ method: 'POST', path: `/hook/${name}`, headers, body }, { signal });
    connection.close();
    return received.ok && received.status === 200 ? fieldsInJson(received.body) : undefined;
  }
}

const MAX_TRIES = 20;
const RETRY_MS = 500;
