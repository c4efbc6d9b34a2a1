import { join } from 'node:path';
import type { ClientName, HookOptions, Scope } from './client.ts';
import { readFileText } from './files/file-text.ts';
import { hooksFolder } from './files/journal.ts';
import type { Insertion } from './edit/insertions.ts';

/** What was inserted into one file, so that it can be removed byte for byte. */
export interface InstalledFile {
  readonly path: string;
  /** Hash of the written text: the positions are valid in that text only. */
  readonly hash: string;
  readonly insertions: readonly Insertion[];
  readonly made: readonly (readonly string[])[];
  readonly created: boolean;
  /** Folders that the installation created, outermost first. */
  readonly folders: readonly string[];
}

export interface Installed {
  readonly client: ClientName;
  readonly scope: Scope;
  readonly options: HookOptions;
  readonly files: readonly InstalledFile[];
}

/** `hooks/installed.json` in the state folder. Without it, a removal may not restore the original white space. */
export class InstallRecord {
  readonly path: string;
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

  /** Renders the record with this entry in place of the earlier one. Returns null if no entry is left. */
  renderWith(client: ClientName, scope: Scope, installed: Installed | undefined): string | null {
    const others = this.#installed.filter((each) => each.client !== client || !isSameScope(each.scope, scope));
    const all = installed === undefined ? others : [...others, installed];
    return all.length === 0 ? null : `${JSON.stringify({ v: 1, installed: all }, null, 2)}\n`;
  }
}

function parseInstalled(text: string | null): readonly Installed[] {
  try {
    // Only Baton writes this file.
    const { installed } = JSON.parse(text ?? '{}') as { installed?: readonly Installed[] }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return installed ?? [];
  } catch {
    return [];
  }
}

function isSameScope(a: Scope, b: Scope): boolean {
  return a.kind === 'project' ? b.kind === 'project' && a.root === b.root : b.kind === 'user';
}
