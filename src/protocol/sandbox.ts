/**
 * The sandbox of a session: what a runbook requests (`SandboxPlan`, `NetworkPlan`), what the daemon resolves it to
 * (`SandboxSpec`, part of the launch file), and what the session had in the end (`SandboxRecord`, in the ledger).
 */

/** `sandbox-exec` is macOS only; `auto` never chooses it. */
export const SANDBOX_KINDS = ['bubblewrap', 'container', 'user', 'sandbox-exec', 'none'] as const;
export const SANDBOX_MODES = ['auto', ...SANDBOX_KINDS] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

/** Reports whether a process in this sandbox cannot write the user's git directory. No record counts as no sandbox. */
export function isIsolated(kind: string | undefined): boolean {
  return kind === 'bubblewrap' || kind === 'container' || kind === 'user';
}

/** Renders a sandbox for every surface: `bubblewrap, network full`, or `no sandbox`. */
export function renderSandbox(kind: string, network: string | null = null): string {
  if (kind === 'none') return 'no sandbox';
  return network === null ? kind : `${kind}, network ${network}`;
}

/** The sandbox that a session would have on this machine. */
export interface SandboxAdvice {
  /** Null if the session would not start, because the runbook's mode does not work here. */
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
  /** Allows user namespaces inside, which clients need for their own sandboxes. */
  readonly nested?: boolean;
  /** The image of a container; default: the repository's devcontainer. */
  readonly image?: string;
  readonly processes?: number;
  readonly memory_bytes?: number;
  readonly disk_bytes?: number;
}

/**
 * Allowed hosts. `model`: the API hosts of the client itself. `dev`: these, public registries, the git remotes of the
 * main checkout, and what the person's own configuration names. A list names hosts; `*.example.com` covers all names
 * below it.
 */
export type NetworkPolicy = (typeof NETWORK_POLICIES)[number] | readonly string[];

/** From the widest to the narrowest. */
export const NETWORK_POLICIES = ['full', 'dev', 'model', 'none'] as const;

export interface NetworkPlan {
  readonly policy?: NetworkPolicy;
  /** More hosts, for `dev` and `model`. */
  readonly hosts?: readonly string[];
  /** Ports of the host's loopback address that the session may reach, at the same number. */
  readonly local?: readonly number[];
}

/** A secret of the project: the daemon's variable with its value, and more paths than those of inference. */
export interface SecretPlan {
  readonly env: string;
  /** Only Baton's proxy knows the value. */
  readonly inject: 'header';
  readonly paths?: readonly string[];
}

/**
 * The secrets that can be injected, by the variable that the client would read, with the client. The client must have a
 * setting for the base URL of its API: its requests then go to Baton, which adds the secret.
 */
export const INJECTABLE_SECRETS = {
  ANTHROPIC_API_KEY: 'claude',
  ANTHROPIC_AUTH_TOKEN: 'claude',
  OPENAI_API_KEY: 'codex',
  CODEX_API_KEY: 'codex',
  GEMINI_API_KEY: 'gemini',
  GOOGLE_API_KEY: 'gemini',
} as const;

/** The client whose API and variables an agent uses, or the agent itself. */
export function secretClientOf(run: string): string {
  return run === 'claude-acp' ? 'claude' : run === 'gemini-acp' ? 'gemini' : run;
}

/** The client that uses the secret; undefined if the secret cannot be injected. */
export function findClientOfSecret(name: string): string | undefined {
  return Object.entries(INJECTABLE_SECRETS).find(([known]) => known === name)?.[1];
}

/** One path inside the sandbox. Later mounts hide earlier ones. */
export type Mount =
  | { readonly kind: 'read' | 'write'; readonly at: string; readonly from: string }
  /** An empty folder in place of a hidden one. */
  | { readonly kind: 'empty'; readonly at: string }
  /** A writable folder in memory. */
  | { readonly kind: 'scratch'; readonly at: string }
  /** An empty file in place of a hidden one. */
  | { readonly kind: 'masked'; readonly at: string }
  | { readonly kind: 'link'; readonly at: string; readonly to: string };

/** A folder whose changes are dropped when the process ends. `src/sandbox/layers` makes it. */
export interface Layer {
  /** Its place outside, while the process runs. */
  readonly folder: string;
  /** What the process finds in it and cannot change, the topmost first. */
  readonly lowers: readonly string[];
  readonly how: 'overlay' | 'copy';
  /** Where it is moved at the end, if later layers show its content. */
  readonly keptIn?: string;
}

/** A path that a session cannot reach or change. If a tool's output names it with an error, the log says why. */
export interface HiddenPath {
  /** The path is visible, but only a person changes it. Otherwise it exists outside but not inside. */
  readonly isReadOnly?: true;
  readonly path: string;
  /** The path as written in a runbook, such as `~/.ssh`. */
  readonly shown: string;
}

export interface LimitsSpec {
  readonly processes: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
}

export interface NetworkSpec {
  /** `proxy`: only the listed hosts can be reached, through Baton's proxy. */
  readonly policy: 'full' | 'proxy' | 'none';
  readonly hosts: readonly string[];
  readonly local: readonly number[];
  /** BATON_PORT: connections to this port of the host's loopback address are forwarded into the session. */
  readonly port: number | null;
  readonly inject: readonly Injection[];
  /** The policy as a runbook names it, if `policy` and `hosts` are derived from it. */
  readonly name?: 'dev' | 'model';
  /** No person has chosen the policy, so a machine that cannot enforce it uses its own network, with a note. */
  readonly isDefault?: true;
}

/** A plain-HTTP address inside the sandbox; the supervisor adds the secret and speaks TLS to `upstream`. */
export interface Injection {
  /** The secret's name, such as ANTHROPIC_API_KEY. The supervisor's environment has its value. */
  readonly secret: string;
  /** Whose paths the key may be used for; see `src/sandbox/network/meter/inference-paths.ts`. */
  readonly api: 'anthropic' | 'openai' | 'gemini';
  /** More paths, as in `POST /v1/files`. `*` stands for a segment. */
  readonly paths: readonly string[];
  readonly upstream: string;
  readonly header: string;
  /** Text before the value, such as `Bearer `. */
  readonly prefix: string;
  /** Variables of the session: `${URL}` is replaced by the address inside. */
  readonly env: Readonly<Record<string, string>>;
}

/** A session's own git directory; see `src/git/private`. */
export interface PrivateGit {
  /** Baton's folder for the private git directory. The session sees the folder `git` in it. */
  readonly folder: string;
  /** The path of the private git directory in the session: that of the worktree's git directory. */
  readonly at: string;
  readonly worktree: string;
  readonly commonDir: string;
  /** The object folders of the user's repository, including its alternates. Read-only inside. */
  readonly objects: readonly string[];
  readonly format: 'sha1' | 'sha256';
  readonly branch: string | null;
  /** The claim that must be live for the branch to change; null without a claim. */
  readonly fence: { readonly livePath: string; readonly epoch: number } | null;
  /** The user's hooks folder, visible read-only; null if there is none. */
  readonly hooks: string | null;
  /** Mounts that only some repositories need: submodules, Git LFS files, hidden alternates. */
  readonly also: readonly Mount[];
  /** Set if there are no mounts: the session sees the user's objects and hooks at their own paths. */
  readonly isUnmounted?: true;
}

/** A credential file of the client: copied for the session, and copied back if the client has renewed it. */
export interface CredentialFile {
  readonly original: string;
  readonly copy: string;
  /** SHA-256 of the original at the time of the copy; null if there was none. */
  readonly digest: string | null;
  readonly format: 'json' | 'text';
}

/** Everything a supervisor needs to start one process in a sandbox. */
export interface SandboxSpec {
  readonly kind: Exclude<SandboxKind, 'none'>;
  /** The system outside HOME; a container image replaces it. */
  readonly system: readonly Mount[];
  readonly mounts: readonly Mount[];
  readonly layers: readonly Layer[];
  readonly nested: boolean;
  readonly limits: LimitsSpec;
  readonly network: NetworkSpec;
  /** Variables of the sandbox: caches, HOME, proxies. */
  readonly env: Readonly<Record<string, string>>;
  readonly git: PrivateGit | null;
  readonly credentials: readonly CredentialFile[];
  readonly hidden: readonly HiddenPath[];
  /** Folders that are removed after the process has exited. */
  readonly temporary: readonly string[];
  /** Folders whose size counts against `disk_bytes`. */
  readonly measured: readonly string[];
  /** Folders that other processes also write, such as package caches: changes while the process runs count as well. */
  readonly shared: readonly string[];
  /** The bubblewrap program, for kind `bubblewrap`. */
  readonly bwrap: { readonly path: string; readonly version: string } | null;
  readonly container: ContainerSpec | null;
  readonly user: UserSession | null;
  /** Set for a session that judges: its system call filter also refuses what reads other processes. */
  readonly refusesTracing?: true;
  /** The second sandbox, for the shell commands of a session that judges; absent if there is none. */
  readonly shell?: ShellSpec;
  /** What the session lacks or additionally has, in plain sentences. */
  readonly notes: readonly string[];
}

/** A command of the project can write its folder and layers only: see `planCommandWrites`. */
export type CommandSpec = SandboxSpec & { readonly dropsWrites: true };

/** The sandbox in which the shell commands of a judging session run; see `src/sandbox/shell`. */
export interface ShellSpec {
  /** The folder with the socket and the program that replaces the shells; only the client's sandbox shows it. */
  readonly folder: string;
  /** HOME of the commands, outside. */
  readonly home: string;
  /** Replaces `mounts`. */
  readonly mounts: readonly Mount[];
  readonly network: NetworkSpec;
  /** Variables of the commands that differ from the client's. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the commands do not get: names, or prefixes with `*`. */
  readonly withheld: readonly string[];
}

export interface ContainerSpec {
  readonly engine: ContainerEngine;
  /** An image name, or a root folder. */
  readonly source: { readonly image: string } | { readonly rootfs: string };
  /** More arguments of `run`: the volumes of a devcontainer. */
  readonly args: readonly string[];
}

/** An engine that works on this machine; see `src/sandbox/container/probe-containers.ts`. */
export interface ContainerEngine {
  readonly name: 'podman' | 'docker';
  /** The command that runs the engine: `podman`, with more arguments if this machine needs them. */
  readonly command: readonly string[];
  readonly isRootless: boolean;
  /** Whether `--init` works. */
  readonly hasInit: boolean;
  readonly limits: SandboxRecord['limits'];
  /** The engine's own seccomp profile, which Baton tightens; null if it has none as a file. */
  readonly seccomp: string | null;
}

/** Another user id of this machine, under which sessions run. */
export interface UserSpec {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** One session under another user id. */
export interface UserSession extends UserSpec {
  /** What the session may also read, outside the state folder. */
  readonly folder: string;
  /** Paths that the session may write; the operator owns them again at the end. */
  readonly shared: readonly string[];
  /** Paths inside `shared` that the session may not write. */
  readonly closed: readonly string[];
  readonly worktree: string;
}

export const LIMIT_KINDS = ['cgroup v2', 'cgroup v1', 'rlimits', 'none'] as const;

/** The sandbox that a session had. */
export interface SandboxRecord {
  readonly kind: SandboxKind;
  /** `full`, `host`, `none`, `model`, or the list of hosts. */
  readonly network: string;
  readonly limits: (typeof LIMIT_KINDS)[number];
  readonly notes: readonly string[];
}

/** How often a session requested a host from Baton's proxy. */
export interface HostCount {
  readonly host: string;
  readonly allowed: number;
  readonly refused: number;
}
