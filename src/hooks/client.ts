import type { Insertion } from './edit/insertions.ts';

export const CLIENTS = ['claude', 'codex', 'gemini'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** For all of a person's sessions, or for those in one repository. */
export type Scope = { readonly kind: 'user' } | { readonly kind: 'project'; readonly root: string };

export interface HookOptions {
  /** What happens when a session that holds a task ends its turn. */
  readonly onStop: 'signal' | 'allow';
  /** Whether a session claims the next task when it starts. */
  readonly claim: boolean;
  /** Who answers for what its sessions do; left out: the principal that all unnamed workers share. */
  readonly principal?: string;
}

/** Where things are on this machine. */
export interface HookMachine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly stateDir: string;
  /** Set where sessions would not find the state folder by themselves. */
  readonly namesStateDir: boolean;
  /** Node and the command of Baton, absolute. */
  readonly node: string;
  readonly baton: string;
}

export interface InstallRequest {
  readonly scope: Scope;
  readonly options: HookOptions;
  readonly machine: HookMachine;
}

/** One file of a client, and what Baton has in it. */
export interface ClientFile {
  readonly path: string;
  readonly format: 'json' | 'toml';
  /** What goes into a text that has nothing of ours. */
  readonly add: (text: string) => Addition;
  /** The text without what is ours; `isMade` says which objects and lists were made for it. */
  readonly remove: (text: string, isMade: (path: readonly string[]) => boolean) => string;
  /** Which of our parts it has, in words, and what is wrong with them. */
  readonly find: (text: string) => FoundParts;
}

export type Addition =
  | {
      readonly ok: true;
      readonly insertions: readonly Insertion[];
      readonly made: readonly (readonly string[])[];
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly what: string };

export interface FoundParts {
  readonly parts: readonly string[];
  readonly problems: readonly string[];
}

/** A client whose sessions Baton can take part in. */
export interface HookedClient {
  readonly name: ClientName;
  readonly title: string;
  /** Versions with which the tests were run, oldest first. */
  readonly tested: readonly string[];
  readonly files: (wanted: InstallRequest) => readonly ClientFile[];
}
