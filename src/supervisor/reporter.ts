import type { Answer } from '../api/answer.ts';
import type { AgentReport, Exit, Launch } from './contract.ts';
import type { DaemonConnection, DaemonCall } from './daemon-connection.ts';

/** Tells the daemon what happens to the process, in the order in which it happens, each thing once. */
export class Reporter {
  readonly #launch: Launch;
  readonly #line: DaemonConnection;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(launch: Launch, line: DaemonConnection) {
    this.#launch = launch;
    this.#line = line;
  }

  /** Resolves when it is on record, with the daemon or in the outbox. Commands have only an end to tell. */
  async report(report: AgentReport): Promise<Answer> {
    const { kind, start, id } = this.#launch;
    if (kind === 'command' && report.kind !== 'exited') return { ok: true, result: null };
    // A process starts and ends once a start; other things happen again and again.
    const isOnce = REPORTED_ONCE.has(report.kind);
    const key = `${id}:${report.kind}:${start}${isOnce ? '' : `:${(this.#count += 1)}`}`;
    return this.send({
      operation: kind === 'agent' ? 'agent_report' : 'command_report',
      input: JSON.stringify(kind === 'agent' || report.kind !== 'exited' ? report : exitOf(report)),
      token: this.#launch.token,
      key,
    });
  }

  /** When what was said before is on record: a process that prints its signal at once has started all the same. */
  async send(saying: DaemonCall): Promise<Answer> {
    const answer = this.#last.then(async () => this.#line.send(saying));
    this.#last = answer.catch(() => {});
    return answer;
  }
}

const REPORTED_ONCE: ReadonlySet<AgentReport['kind']> = new Set(['started', 'attached', 'detached', 'exited']);

function exitOf({ start, code, signal, timed_out, blocks_used, output }: Exit): Exit {
  return { start, code, signal, timed_out, blocks_used, output };
}
