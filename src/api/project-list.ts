import { findText, fieldOf, fieldsInJson } from '../protocol/shape/read-unknown.ts';
import { readFileIfPresent, writeFileAtomically } from './files.ts';
import { makeFolder, stateFiles } from './state-folder.ts';

export interface ListedProject {
  /** The main worktree of its repository on this machine. */
  readonly path: string;
  /** The URL of its PostgreSQL database; undefined if the ledger is in the state folder. */
  readonly store: string | undefined;
}

/**
 * The projects of a state folder by id, from `projects.json`, which is missing at the first start. A damaged list is
 * restored over time, because each call of an operator adds the path of its project.
 */
export function readProjectList(stateDir: string): ReadonlyMap<string, ListedProject> {
  const listed = new Map<string, ListedProject>();
  for (const [id, value] of Object.entries(fieldsInJson(readFileIfPresent(stateFiles(stateDir).projectList)))) {
    const path = findText(value) ?? findText(fieldOf(value, 'path'));
    if (path !== undefined) listed.set(id, { path, store: findText(fieldOf(value, 'store')) });
  }
  return listed;
}

export function writeProjectPath(stateDir: string, id: string, path: string): void {
  const listed = readProjectList(stateDir);
  writeList(stateDir, new Map(listed).set(id, { path, store: listed.get(id)?.store }));
}

/** Moves a project to another store. Call only while no daemon has the project open. */
export function writeProjectStore(stateDir: string, id: string, { path, store }: ListedProject): void {
  writeList(stateDir, new Map(readProjectList(stateDir)).set(id, { path, store }));
}

/** A project without a database is written as its path alone, which earlier versions read. */
function writeList(stateDir: string, listed: ReadonlyMap<string, ListedProject>): void {
  const written = [...listed].map(([id, { path, store }]) => [id, store === undefined ? path : { path, store }]);
  makeFolder(stateDir);
  writeFileAtomically(stateFiles(stateDir).projectList, `${JSON.stringify(Object.fromEntries(written), null, 2)}\n`);
}
