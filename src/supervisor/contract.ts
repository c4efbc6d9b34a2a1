import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateFiles } from '../api/state-folder.ts';
import type { AttemptLimit, StopAction, StreamFormat } from '../protocol/run-plan.ts';
import type { SandboxRecord, SandboxSpec } from '../protocol/sandbox.ts';
import type { Standing } from '../protocol/standing.ts';

/**
 * What the daemon and a supervisor know of each other. They share a folder and talk over HTTP on loopback; either may be killed at any
 * moment, and what lies in the folder tells the other one where things stand.
 */
export function agentFiles(stateDir: string, agentId: string) {
  return filesIn(join(stateFiles(stateDir).agents, agentId));
}

/** Shell steps and gates run under the same program, in folders of their own. */
export function commandFiles(stateDir: string, commandId: string) {
  return filesIn(join(stateFiles(stateDir).commands, commandId));
}

export function filesIn(folder: string) {
  return {
    folder,
    /** `HookConfig`: what the stop hook needs when neither supervisor nor daemon answers. */
    config: join(folder, 'config.json'),
    /** `Launch`: what to run, written before the supervisor is started. Mode 0600: it holds tokens. */
    launch: (start: number) => join(folder, `launch-${start}.json`),
    /** Made by the first supervisor of a start, with O_EXCL: a second one leaves at once. */
    taken: (start: number) => join(folder, `taken-${start}`),
    /** `Running`: written when the process runs and the hook endpoint listens. */
    running: (start: number) => join(folder, `running-${start}.json`),
    /** `Exit`: written when the process has gone, before it is reported. */
    exit: (start: number) => join(folder, `exit-${start}.json`),
    /** The client's own id of the conversation, as last reported; a resume continues it. */
    conversation: join(folder, 'conversation'),
    /** `HeldMessage[]`: messages that the agent has not received yet, over all its processes. */
    held: join(folder, 'held.json'),
    /** What the agent has used, over all its processes. */
    usage: join(folder, 'usage.json'),
    log: join(folder, 'output.log'),
    bin: join(folder, 'bin'),
  } as const;
}

/** Exit code of a supervisor: another one supervises this start. */
export const EXIT_ALREADY_SUPERVISED = 75;
/** Exit code of a supervisor: no room for its files. It ran nothing and gave the start back. */
export const EXIT_NO_ROOM = 74;

/** `config.json`; more keys may follow. A missing or unreadable file means `signal`. */
export interface HookConfig {
  readonly on_stop: StopAction;
  readonly attempts?: AttemptLimit;
  /** `limits.blocks`, and how many blocks the processes before this start have had. */
  readonly max_blocks?: number;
  readonly blocks_before?: number;
  /** The client's `stop_hook_active` is not reliable: the supervisor counts by itself. */
  readonly ignores_flag?: true;
  /** Of the newest start: where the supervisor listens is in `running-{start}.json`. */
  readonly start?: number;
}

/** Variables of a supervisor with secrets for the sandbox's proxy. Its process does not get them. */
export const SECRET_PREFIX = 'BATON_SECRET_';

export interface Launch {
  readonly v: 1;
  readonly kind: 'agent' | 'command';
  readonly id: string;
  readonly start: number;
  /** Program and arguments; a shell command is `['/bin/sh', '-c', …]`. `${BATON_URL}` is filled in, as in `files`. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** A person has it in their own terminal: their command runs it, and the supervisor waits for them. */
  readonly terminal?: true;
  /** How long the supervisor waits for them; left out: half a minute. */
  readonly arrival_ms?: number;
  /** Laid over the environment that the supervisor was started with; an empty text removes a name. */
  readonly env: Readonly<Record<string, string>>;
  /** What passes of the daemon's environment besides the default list; the supervisor itself is started with no more than that. */
  readonly env_pass?: readonly string[];
  /** Names of the daemon's variables that did not pass, for people who look for one. */
  readonly env_dropped?: readonly string[];
  readonly names_dropped?: true;
  /** What the program prints: plain text, or JSON lines in the format of a client. */
  readonly output: 'text' | StreamFormat;
  /** Plain lines, or JSON lines. `once`: the prompt, then closed, for programs that read to the end. `none`: closed. */
  readonly input: 'none' | 'once' | 'text' | 'stream-json';
  /** The first message; sent on standard input unless `input` is `none`. */
  readonly prompt: string | null;
  /** Ids of the messages in it that an earlier process did not receive. */
  readonly held?: readonly string[];
  readonly timeout_ms: number | null;
  /** Between SIGTERM and SIGKILL. */
  readonly kill_after_ms: number;
  /** No output for so long is idleness; null: never. */
  readonly idle_ms: number | null;
  /** `limits.silence` and `limits.tool`; left out: nothing is measured. */
  readonly silence_ms?: number;
  readonly tool_ms?: number;
  /** How often the supervisor reports that it lives; left out: only when there is something to report. */
  readonly report_ms?: number;
  /** How often the claim is renewed; null if there is none. */
  readonly renew_ms: number | null;
  /** Other hosts may take over the claim: the supervisor freezes the process when its lease ends without a renewal. */
  readonly fleet?: true;
  /** How long a tool call may be held at the client's hook: its timeout less ten seconds. Left out: see `holds.ts`. */
  readonly hold_ms?: number;
  readonly log_bytes: number;
  /** Exit signals in the agent's output are sent to the daemon when its turn or its process ends. */
  readonly finds_exit_signals: boolean;
  /** Of the supervisor (`caller.kind` `supervisor`). */
  readonly token: string;
  /** Of the agent, as it has it in BATON_TOKEN. */
  readonly agent_token: string;
  /** What the session owes, in words, for the text of a block. */
  readonly owes: readonly string[];
  /** Absolute; the daemon is found through it. */
  readonly state_dir: string;
  /** Written before the process starts: settings with hooks, the `baton` of its PATH. */
  readonly files?: readonly LaunchFile[];
  /** Made before the process starts, for what the client keeps. */
  readonly folders?: readonly string[];
  /** Left out: the process runs as the user, with the user's rights. */
  readonly sandbox?: SandboxSpec;
  /** The program that opens ports inside the sandbox's network namespace. */
  readonly sandbox_helper?: string;
  /** Ports of Baton on this machine, which no sandbox may reach. */
  readonly forbidden_ports?: readonly number[];
  /** Of a process without a sandbox: what is recorded instead. */
  readonly sandbox_record?: SandboxRecord;
}

export interface LaunchFile {
  /** Absolute. */
  readonly path: string;
  /** Only the supervisor knows where it listens: `${BATON_URL}` is filled in. */
  readonly content: string;
  readonly mode?: number;
  /** Instead of the content: a symbolic link to this path, in place of whatever is there. */
  readonly link?: string;
}

export interface Running {
  readonly start: number;
  readonly supervisor: string;
  readonly process: string;
  /** Receives hooks, the agent's own calls (`/v1/…`, `/mcp`) and requests of the daemon (`/control`). */
  readonly port: number;
  readonly sandbox?: SandboxRecord;
}

/** Names the container and the control groups of a run. */
export function sandboxId({ id, start }: Pick<Launch, 'id' | 'start'>): string {
  return `${id}-${start}`;
}

/** `POST /control`, with the supervisor's token. Answered with `{ok: true}` or `{ok: false, error}` when done. */
export type Control =
  | { readonly kind: 'standing'; readonly standing: Standing }
  /** Once: a repeated id is answered as the first was. */
  | {
      readonly kind: 'send';
      readonly message_id: string;
      readonly text: string;
      /** What a person decided, if the agent had asked for permission. */
      readonly permission?: 'allow' | 'deny';
      /** Deliver only if the turn has ended; a running turn needs no wake-up. */
      readonly wakes?: boolean;
    }
  /** Answered when the process group, and every process that left it, is gone. */
  | { readonly kind: 'kill'; readonly reason: string };

/** What to run, as the daemon wrote it down. Throws where it is missing or no launch: then nothing has been started. */
export function requireLaunch(path: string): Launch {
  const launch: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isLaunch(launch)) throw new Error(`${path} is not a launch that this Baton knows`);
  return launch;
}

/** The daemon wrote it, of the same version or a neighbour; this is about a file that is something else. */
function isLaunch(value: unknown): value is Launch {
  if (typeof value !== 'object' || value === null) return false;
  const { v, kind, id, argv, cwd, env, token, agent_token, state_dir }: Partial<Record<keyof Launch, unknown>> = value;
  const texts = [id, cwd, token, agent_token, state_dir];
  const isCommandLine = Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === 'string');
  const hasKind = kind === 'agent' || kind === 'command';
  return (
    v === 1 && hasKind && isCommandLine && typeof env === 'object' && texts.every((text) => typeof text === 'string')
  );
}
