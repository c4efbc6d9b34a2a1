import { methodNotFound } from '../../../acp/connection.ts';
import type { Fields } from '../../../protocol/shape/read-unknown.ts';
import { ClientFiles } from './files.ts';
import type { DriverSettings } from './settings.ts';
import { ClientTerminals } from './terminals.ts';

/** The file system and terminal methods. An agent may call only those that were offered to it. */
export class ClientMethods {
  readonly #files: ClientFiles | undefined;
  readonly #terminals: ClientTerminals | undefined;

  constructor({ files, terminals }: Pick<DriverSettings, 'files' | 'terminals'>, cwd: string) {
    this.#files = files ? new ClientFiles(cwd) : undefined;
    this.#terminals = terminals ? new ClientTerminals(cwd) : undefined;
  }

  get capabilities(): object {
    const hasFiles = this.#files !== undefined;
    return {
      fs: { readTextFile: hasFiles, writeTextFile: hasFiles },
      terminal: this.#terminals !== undefined,
    };
  }

  async call(method: string, params: Fields): Promise<object> {
    const [files, terminals] = [this.#files, this.#terminals];
    if (method === 'fs/read_text_file' && files !== undefined) return files.read(params);
    if (method === 'fs/write_text_file' && files !== undefined) return files.write(params);
    if (terminals === undefined) throw methodNotFound(method);
    switch (method) {
      case 'terminal/create':
        return terminals.create(params);
      case 'terminal/output':
        return terminals.output(params);
      case 'terminal/wait_for_exit':
        return terminals.waitForExit(params);
      case 'terminal/kill':
        return terminals.kill(params);
      case 'terminal/release':
        return terminals.release(params);
      default:
        throw methodNotFound(method);
    }
  }

  end(): void {
    this.#terminals?.endAll();
  }
}
