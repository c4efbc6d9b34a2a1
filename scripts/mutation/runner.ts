import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Trial, Verdict } from './run-mutants.ts';

/** The process that runs tests. It is started again if they do not end. */
export class Runner {
  #child: Promise<ChildProcess> = startChild();

  /** Returns the first test file that fails, or null. */
  async run(trial: Trial): Promise<string | null> {
    const child = await this.#child;
    return new Promise((resolve) => {
      const onEnd = (): void => {
        this.#child = startChild();
        resolve('the time limit');
      };
      child.once('exit', onEnd);
      child.once('message', ({ failed }: Verdict) => {
        child.off('exit', onEnd);
        resolve(failed);
      });
      child.send(trial);
    });
  }

  end(): void {
    void this.#child.then((child) => child.kill());
  }
}

function startChild(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'run-mutants.ts'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('exit', () => reject(new Error('the process that runs tests has ended')));
  });
}
