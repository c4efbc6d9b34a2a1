import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderIfPresent, readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import { makeFolder, stateFiles } from '../../api/state-folder.ts';
import { fieldsInJson, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { StartedRun } from './run-source.ts';

/** The run of a session, which the editor can load again. */
export interface SavedSession {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly run: StartedRun;
  readonly updatedAt: string;
}

/** One file per session in the state folder, so that several editors do not conflict. */
export class SessionFiles {
  readonly #folder: string;

  constructor(stateDir: string) {
    this.#folder = stateFiles(stateDir).editorSessions;
  }

  save({ id, ...session }: SavedSession): void {
    makeFolder(this.#folder);
    writeFileAtomically(join(this.#folder, `${id}.json`), `${JSON.stringify({ v: 1, ...session })}\n`);
    this.#removeOld();
  }

  /** Undefined for a session that started nothing or is too old. */
  find(id: string): SavedSession | undefined {
    if (!ID.test(id)) return undefined;
    const { cwd, title, run, updatedAt } = fieldsInJson(readFileIfPresent(join(this.#folder, `${id}.json`)));
    const { kind, id: runId } = fieldsOf(run);
    const known = KINDS.find((each) => each === kind);
    if (known === undefined || typeof runId !== 'string') return undefined;
    return {
      id,
      cwd: textOf(cwd),
      title: textOf(title),
      run: { kind: known, id: runId },
      updatedAt: textOf(updatedAt),
    };
  }

  /** Newest first. */
  list(): readonly SavedSession[] {
    const found = this.#names().flatMap((name) => this.find(name.replace(/\.json$/, '')) ?? []);
    return found.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  }

  #names(): readonly string[] {
    return listFolderIfPresent(this.#folder).filter((name) => name.endsWith('.json'));
  }

  #removeOld(): void {
    const names = this.#names();
    if (names.length <= MAX_SESSIONS) return;
    const times = names.map((name) => ({
      name,
      ms: statSync(join(this.#folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }));
    for (const { name } of times.toSorted((a, b) => b.ms - a.ms).slice(MAX_SESSIONS))
      rmSync(join(this.#folder, name), { force: true });
  }
}

const ID = /^[0-9a-f-]{36}$/;
const KINDS = ['workflow', 'pipeline', 'agent'] as const;
const MAX_SESSIONS = 500;
