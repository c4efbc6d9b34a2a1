/**
 * The sandbox of a session: what a runbook asks for (`SandboxPlan`, `NetworkPlan`), what the daemon resolves it to (`SandboxSpec`, part of
 * the launch file), and what the session had in the end (`SandboxRecord`, on the ledger).
 */

/** `sandbox-exec` is macOS only; `auto` never chooses it. */
export const SANDBOX_MODES = ['auto', 'bubblewrap', 'container', 'user', 'sandbox-exec', 'none'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];
export type SandboxKind = Exclude<SandboxMode, 'auto'>;
export const SANDBOX_KINDS = [
  'bubblewrap',
  'container',
  'user',
  'sandbox-exec',
  'none',
] as const satisfies readonly SandboxKind[];

/** Whether a process in this sandbox cannot write the git directory of the user's repository. No record counts as no sandbox. */
export function isIsolated(kind: string | undefined): boolean {
  return kind === 'bubblewrap' || kind === 'container' || kind === 'user';
}

/** In the words of every surface: `bubblewrap, network full`, or `no sandbox`. */
export function renderSandbox(kind: string, network: string | null = null): string {
  if (kind === 'none') return 'no sandbox';
  return network === null ? kind : `${kind}, network ${network}`;
}

/** What a session would have on this machine. */
export interface SandboxAdvice {
  /** Null if it would not start: the mode that its runbook names does not work here. */
  readonly kind: SandboxKind | null;
  readonly notes: readonly string[];
}

export type AdviseSandbox = (mode: SandboxMode) => Promise<SandboxAdvice>;

/** Paths are absolute, begin with `~/`, or are relative to the project. */
export interface SandboxPlan {
  readonly mode?: SandboxMode;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly hide?: readonly string[];
  /** Allows user namespaces inside, which the clients' own sandboxes need. */
  readonly nested?: boolean;
  /** The image of a container; default: the repository's devcontainer. */
  readonly image?: string;
  readonly processes?: number;
  readonly memory_bytes?: number;
  readonly disk_bytes?: number;
}

/** `model`: the API hosts of the client itself. A list names hosts; `*.example.com` covers all names below it. */
export type NetworkPolicy = 'full' | 'model' | 'none' | readonly string[];

export interface NetworkPlan {
  readonly policy?: NetworkPolicy;
  /** Ports of the host's loopback address that the session may reach, at the same number. */
  readonly local?: readonly number[];
}

/** A secret of the project: the variable of the daemon that holds it. `header`: only Baton's proxy knows it. */
export interface SecretPlan {
  readonly env: string;
  readonly inject: 'header';
}

/**
 * The secrets that can be injected, by the variable that the client would read, with the client. A client must have a setting for the base
 * URL of its API: its requests then go to Baton, which adds the secret.
 */
export const INJECTABLE_SECRETS = {
  ANTHROPIC_API_KEY: 'claude',
  ANTHROPIC_AUTH_TOKEN: 'claude',
  OPENAI_API_KEY: 'codex',
  CODEX_API_KEY: 'codex',
  GEMINI_API_KEY: 'gemini',
  GOOGLE_API_KEY: 'gemini',
} as const;

/** The client whose API and variables an agent uses; the agent itself if there is none. */
export function secretClientOf(run: string): string {
  return run === 'claude-acp' ? 'claude' : run === 'gemini-acp' ? 'gemini' : run;
}

/** The client that uses the secret; undefined if it cannot be injected. */
export function findClientOfSecret(name: string): string | undefined {
  return Object.entries(INJECTABLE_SECRETS).find(([known]) => known === name)?.[1];
}

/** One path inside the sandbox. Later mounts cover earlier ones. */
export type Mount =
  | { readonly kind: 'read' | 'write'; readonly at: string; readonly from: string }
  /** An empty folder in place of a hidden one. */
  | { readonly kind: 'empty'; readonly at: string }
  /** A writable folder in memory. */
  | { readonly kind: 'scratch'; readonly at: string }
  /** An empty file in place of a hidden one. */
  | { readonly kind: 'masked'; readonly at: string }
  | { readonly kind: 'link'; readonly at: string; readonly to: string };

/** A path that exists outside and not inside. If a tool's output names it, the log says which line allows it. */
export interface HiddenPath {
  readonly path: string;
  /** As in a runbook, such as `~/.ssh`. */
  readonly shown: string;
}

export interface LimitsSpec {
  readonly processes: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
}

export interface NetworkSpec {
  /** `proxy`: only the listed hosts, through Baton's proxy. */
  readonly policy: 'full' | 'proxy' | 'none';
  readonly hosts: readonly string[];
  readonly local: readonly number[];
  /** BATON_PORT: connections to this port of the host's loopback address reach the session. */
  readonly port: number | null;
  readonly inject: readonly Injection[];
}

/** A plain-HTTP address inside the sandbox; the supervisor adds the secret and speaks TLS to `upstream`. */
export interface Injection {
  /** The secret's name, such as ANTHROPIC_API_KEY. The supervisor has its value in its environment. */
  readonly secret: string;
  readonly upstream: string;
  readonly header: string;
  /** Before the value, such as `Bearer `. */
  readonly prefix: string;
  /** Variables of the session: `${URL}` becomes the address inside. */
  readonly env: Readonly<Record<string, string>>;
}

/** A session's own git directory; see `src/git/private`. */
export interface PrivateGit {
  /** The folder of Baton that holds it. `git` below it is what the session sees. */
  readonly folder: string;
  /** Where the session sees it: the git directory of the worktree. */
  readonly at: string;
  readonly worktree: string;
  readonly commonDir: string;
  /** The object folders of the user's repository, its alternates included. Read-only inside. */
  readonly objects: readonly string[];
  readonly format: 'sha1' | 'sha256';
  readonly branch: string | null;
  /** The claim that must be live for the branch to move; null without a claim. */
  readonly fence: { readonly livePath: string; readonly epoch: number } | null;
  /** The user's hooks folder, visible read-only; null if there is none. */
  readonly hooks: string | null;
  /** Mounts that only some repositories need: submodules, Git LFS files, hidden lists of alternates. */
  readonly also: readonly Mount[];
  /** There are no mounts: the session sees the user's objects and hooks at their own places. */
  readonly isUnmounted?: true;
}

/** A credential file of the client: copied for the session, and copied back if the client renewed it. */
export interface CredentialFile {
  readonly original: string;
  readonly copy: string;
  /** SHA-256 of the original when it was copied; null if there was none. */
  readonly digest: string | null;
  readonly format: 'json' | 'text';
}

/** Everything a supervisor needs to start one process in a sandbox. */
export interface SandboxSpec {
  readonly kind: Exclude<SandboxKind, 'none'>;
  /** The system outside of HOME; a container image replaces it. */
  readonly system: readonly Mount[];
  readonly mounts: readonly Mount[];
  readonly nested: boolean;
  readonly limits: LimitsSpec;
  readonly network: NetworkSpec;
  /** Variables of the sandbox: caches, HOME, proxies. */
  readonly env: Readonly<Record<string, string>>;
  readonly git: PrivateGit | null;
  readonly credentials: readonly CredentialFile[];
  readonly hidden: readonly HiddenPath[];
  /** Folders that are removed when the process has ended. */
  readonly temporary: readonly string[];
  /** Folders whose size counts against `disk_bytes`. */
  readonly measured: readonly string[];
  /** Folders that others write too, such as package caches: what changes while the process runs counts as well. */
  readonly shared: readonly string[];
  /** The program, for kind `bubblewrap`. */
  readonly bwrap: { readonly path: string; readonly version: string } | null;
  readonly container: ContainerSpec | null;
  readonly user: UserSession | null;
  /** What the session lacks or has on top, in plain sentences. */
  readonly notes: readonly string[];
}

export interface ContainerSpec {
  readonly engine: ContainerEngine;
  /** An image name, or a root folder. */
  readonly source: { readonly image: string } | { readonly rootfs: string };
  /** Further arguments of `run`: the volumes of a devcontainer. */
  readonly args: readonly string[];
}

/** An engine that works on this machine; see `src/sandbox/container/probe-containers.ts`. */
export interface ContainerEngine {
  readonly name: 'podman' | 'docker';
  /** Runs the engine: `podman`, with more arguments if it needs them here. */
  readonly command: readonly string[];
  readonly isRootless: boolean;
  /** Whether `--init` works. */
  readonly hasInit: boolean;
  readonly limits: SandboxRecord['limits'];
  /** The engine's own seccomp profile, which Baton tightens; null if it has none as a file. */
  readonly seccomp: string | null;
}

/** Another user id of this machine. */
export interface UserSpec {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** One session of another user. */
export interface UserSession extends UserSpec {
  /** What it may read besides, outside of the state folder. */
  readonly folder: string;
  /** What it may write; the operator's again at the end. */
  readonly shared: readonly string[];
  /** What it may not write inside of these. */
  readonly closed: readonly string[];
  readonly worktree: string;
}

export const LIMIT_KINDS = ['cgroup v2', 'cgroup v1', 'rlimits', 'none'] as const;

/** What a session had. */
export interface SandboxRecord {
  readonly kind: SandboxKind;
  /** `full`, `host`, `none`, `model`, or the hosts. */
  readonly network: string;
  readonly limits: (typeof LIMIT_KINDS)[number];
  readonly notes: readonly string[];
}

/** How often a session asked Baton's proxy for a host. */
export interface HostCount {
  readonly host: string;
  readonly allowed: number;
  readonly refused: number;
}
