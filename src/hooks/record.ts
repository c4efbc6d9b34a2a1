import { join } from 'node:path';
import type { ClientName, HookOptions, Scope } from './client.ts';
import { readFileText } from './files/file-text.ts';
import { hooksFolder } from './files/journal.ts';
import type { Insertion } from './edit/insertions.ts';

/** What was put into one file, so that it can be taken out to the byte. */
export interface InstalledFile {
  /** Where it really is. */
  readonly path: string;
  /** Of the text that was written: only in that text are the places right. */
  readonly hash: string;
  readonly insertions: readonly Insertion[];
  /** Objects and lists that were made for it. */
  readonly made: readonly (readonly string[])[];
  /** There was no such file. */
  readonly created: boolean;
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
}

export interface Installed {
  readonly client: ClientName;
  readonly scope: Scope;
  readonly options: HookOptions;
  readonly files: readonly InstalledFile[];
}

/** `hooks/installed.json` of the state folder. Without it everything can still be taken out, only not always to the last space. */
export class InstallRecord {
  readonly path: string;
  /** As it lies on disk. */
  readonly text: string | null;
  readonly #installed: readonly Installed[];

  constructor(stateDir: string) {
    const read = readFileText(join(hooksFolder(stateDir), 'installed.json'));
    this.path = read.ok ? read.file.path : join(hooksFolder(stateDir), 'installed.json');
    this.text = read.ok ? read.file.text : null;
    this.#installed = parseInstalled(this.text);
  }

  all(client: ClientName): readonly Installed[] {
    return this.#installed.filter((each) => each.client === client);
  }

  find(client: ClientName, scope: Scope): Installed | undefined {
    return this.all(client).find((each) => isSameScope(each.scope, scope));
  }

  /** The record with this one in the place of the one for the same client and scope; null where nothing is left. */
  renderWith(client: ClientName, scope: Scope, installed: Installed | undefined): string | null {
    const others = this.#installed.filter((each) => each.client !== client || !isSameScope(each.scope, scope));
    const all = installed === undefined ? others : [...others, installed];
    return all.length === 0 ? null : `${JSON.stringify({ v: 1, installed: all }, null, 2)}\n`;
  }
}

function parseInstalled(text: string | null): readonly Installed[] {
  try {
    // Written by nobody else, in a folder that is ours alone.
    const { installed } = JSON.parse(text ?? '{}') as { installed?: readonly Installed[] }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return installed ?? [];
  } catch {
    return [];
  }
}

function isSameScope(a: Scope, b: Scope): boolean {
  return a.kind === 'project' ? b.kind === 'project' && a.root === b.root : b.kind === 'user';
}
