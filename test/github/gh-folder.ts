import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { COMPILE_CACHE, testProgram } from '../package/where.ts';

/** Read at the start, because some tests clear Baton's variables from the environment. */
const REAL = process.env['BATON_TEST_GH'];
const STAND_IN = testProgram('github/gh-stand-in');

/** A `gh` that knows only the fake GitHub behind a socket, with an invented token. */
export class GhFolder {
  readonly socket: string;
  readonly #bin: string;
  readonly #config: string;

  constructor(folder: string) {
    this.socket = join(folder, 'github.sock');
    this.#bin = join(folder, 'bin');
    this.#config = join(folder, 'gh');
    for (const each of [this.#bin, this.#config]) mkdirSync(each, { recursive: true });
    writeFileSync(join(this.#config, 'config.yml'), `http_unix_socket: ${this.socket}\n`);
    if (REAL !== undefined) symlinkSync(REAL, join(this.#bin, 'gh'));
    else this.install(`exec '${process.execPath}' --disable-warning=ExperimentalWarning '${STAND_IN}' "$@"`);
  }

  get env(): Record<string, string> {
    const path = [this.#bin, ...othersIn(process.env['PATH'] ?? '')].join(delimiter);
    return { PATH: path, GH_TOKEN: 'fake-token', GH_CONFIG_DIR: this.#config, ...COMPILE_CACHE };
  }

  /** Replaces `gh` by a program. */
  install(script: string): void {
    this.remove();
    writeFileSync(join(this.#bin, 'gh'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.#bin, 'gh'), 0o755);
  }

  remove(): void {
    rmSync(join(this.#bin, 'gh'), { force: true });
  }
}

/** Folders of the PATH with another `gh`, in which the developer may be logged in. */
function othersIn(path: string): string[] {
  return path.split(delimiter).filter((folder) => !existsSync(join(folder, 'gh')));
}
