import type { Insertion } from './edit/insertions.ts';

export const CLIENTS = ['claude', 'codex', 'gemini'] as const;
export type ClientName = (typeof CLIENTS)[number];
export type Scope = { readonly kind: 'user' } | { readonly kind: 'project'; readonly root: string };

export interface HookOptions {
  readonly onStop: 'signal' | 'allow';
  readonly claim: boolean;
  /** The principal that is responsible for the sessions' calls; by default the one that unnamed workers share. */
  readonly principal?: string;
}

export interface HookMachine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly stateDir: string;
  /** Whether the hooks name the state folder, because sessions would not find it by default. */
  readonly namesStateDir: boolean;
  readonly node: string;
  readonly baton: string;
}

export interface InstallRequest {
  readonly scope: Scope;
  readonly options: HookOptions;
  readonly machine: HookMachine;
}

export interface ClientFile {
  readonly path: string;
  readonly format: 'json' | 'toml';
  readonly add: (text: string) => Addition;
  /** Returns the text without Baton's entries. `isMade` tells which objects and lists Baton created. */
  readonly remove: (text: string, isMade: (path: readonly string[]) => boolean) => string;
  readonly find: (text: string) => FoundParts;
}

type Addition =
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

export interface HookedClient {
  readonly name: ClientName;
  readonly title: string;
  /** Versions that the tests ran with, oldest first. */
  readonly tested: readonly string[];
  readonly files: (wanted: InstallRequest) => readonly ClientFile[];
}
